package main

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// printer collects the methods that printing calls, in its order: one for each value, by its verb.
type printer struct {
	calling
}

// formatIndex is where a printing function has its format, -1 if it has none; ok is false for
// functions that do not print their arguments.
func formatIndex(fn *ssa.Function) (format, args int, ok bool) {
	params := fn.Signature.Params().Len()
	if !fn.Signature.Variadic() {
		return 0, 0, false
	}
	offset := 0
	if fn.Signature.Recv() != nil {
		offset = 1
	}
	args = offset + params - 1
	if strings.HasSuffix(fn.Name(), "f") {
		return args - 1, args, true
	}
	return -1, args, true
}

// printedBack lists the methods that a printing function calls back.
func (d *Driver) printedBack(s *State, target Target) ([]callback, bool) {
	format, args, ok := formatIndex(target.fn)
	if !ok || args >= len(target.args) {
		return nil, false
	}
	p := &printer{calling{d: d, s: s, names: printed, seen: map[string]bool{}}}
	var elems []Value
	switch v := target.args[args].(type) {
	case KNil:
	case Slc:
		elems = d.elements(s, v)
		if len(elems) != v.n {
			return nil, false
		}
	default:
		return nil, false
	}
	var verbs []string
	if format >= 0 {
		written, ok := target.args[format].(KStr)
		if !ok || strings.Contains(string(written), "%[") || strings.Contains(string(written), "*") {
			return nil, false
		}
		verbs = verbsOf(string(written))
	}
	for i, e := range elems {
		verb := "v"
		if format >= 0 {
			if i >= len(verbs) {
				verb = "v"
			} else {
				verb = verbs[i]
			}
		}
		p.print(e, nil, verb, 0)
	}
	return p.found, true
}

// verbsOf lists the verbs of a format, with a # if they have that flag.
func verbsOf(format string) []string {
	var verbs []string
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		sharp := ""
		for i++; i < len(format) && strings.ContainsRune("+-# 0123456789.", rune(format[i])); i++ {
			if format[i] == '#' {
				sharp = "#"
			}
		}
		if i < len(format) && format[i] != '%' {
			verbs = append(verbs, sharp+format[i:i+1])
		}
	}
	return verbs
}

// print visits a value as fmt does.
func (p *printer) print(v Value, t types.Type, verb string, depth int) {
	if depth > 8 || verb == "T" || verb == "p" {
		return
	}
	if ifc, ok := v.(Ifc); ok {
		v, t = ifc.v, ifc.typ
	}
	if t != nil && !types.IsInterface(t) && p.printByMethod(v, t, verb) {
		return
	}
	if t == nil {
		if sym, unknown := v.(Sym); unknown && !fromOutside(sym.id) {
			p.unknown(types.NewInterfaceType(nil, nil))
		}
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		if sym, unknown := v.(Sym); unknown && !fromOutside(sym.id) {
			p.unknown(u)
		}
	case *types.Struct:
		agg, ok := v.(Agg)
		for i := range u.NumFields() {
			if ok && i < len(agg.elems) && u.Field(i).Exported() {
				p.print(agg.elems[i], u.Field(i).Type(), verb, depth+1)
			}
		}
	case *types.Array:
		if agg, ok := v.(Agg); ok {
			for _, e := range agg.elems {
				p.print(e, u.Elem(), verb, depth+1)
			}
		}
	case *types.Slice:
		if slice, ok := v.(Slc); ok {
			for _, e := range p.d.elements(p.s, slice) {
				p.print(e, u.Elem(), verb, depth+1)
			}
		} else if sym, unknown := v.(Sym); unknown && !fromOutside(sym.id) {
			p.unknown(t)
		}
	case *types.Map:
		if pointer, ok := v.(Ptr); ok && p.s.heap[pointer.object] != nil {
			o := p.s.heap[pointer.object]
			for _, key := range sortedKeys(o.entries) {
				p.print(o.keys[key], u.Key(), verb, depth+1)
				p.print(o.entries[key], u.Elem(), verb, depth+1)
			}
		}
	case *types.Pointer:
		if pointer, ok := v.(Ptr); ok && depth == 0 && p.s.heap[pointer.object] != nil {
			switch u.Elem().Underlying().(type) {
			case *types.Array, *types.Slice, *types.Struct, *types.Map:
				p.print(partOf(p.s.heap[pointer.object].value, pointer.path), u.Elem(), verb, depth+1)
			}
		}
	}
}

// printByMethod finds the method by which a value is printed, and notes it if it has effects.
func (p *printer) printByMethod(v Value, t types.Type, verb string) bool {
	set := p.d.world.program.MethodSets.MethodSet(t)
	method := func(name string) bool {
		for i := range set.Len() {
			selection := set.At(i)
			if selection.Obj().Name() != name {
				continue
			}
			fn := p.d.world.program.MethodValue(selection)
			if fn != nil && !isNil(v) && p.d.world.hasEffects(fn) {
				p.found = append(p.found, callback{fn: fn, receiver: v, method: true})
			}
			return true
		}
		return false
	}
	if method("Format") {
		return true
	}
	if strings.HasPrefix(verb, "#") {
		return verb == "#v" && method("GoString")
	}
	if strings.ContainsAny(verb, "vsxXqw") {
		return method("Error") || method("String")
	}
	return false
}
