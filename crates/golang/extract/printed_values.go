package main

import (
	"cmp"
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// basic is a number, string or flag.
func (p *printer) basic(v Value, t *types.Basic) reflect.Value {
	p.trace.WriteString(text(v) + ",")
	if as := basicType(t); as != nil {
		if known, ok := p.d.native(p.s, v, as); ok {
			return known
		}
	}
	return p.inexact()
}

// basicType is the type of this program for a basic type.
func basicType(t *types.Basic) reflect.Type {
	switch t.Kind() {
	case types.Bool:
		return reflect.TypeFor[bool]()
	case types.String:
		return reflect.TypeFor[string]()
	case types.Int:
		return reflect.TypeFor[int]()
	case types.Int8:
		return reflect.TypeFor[int8]()
	case types.Int16:
		return reflect.TypeFor[int16]()
	case types.Int32:
		return reflect.TypeFor[int32]()
	case types.Int64:
		return reflect.TypeFor[int64]()
	case types.Uint:
		return reflect.TypeFor[uint]()
	case types.Uint8:
		return reflect.TypeFor[uint8]()
	case types.Uint16:
		return reflect.TypeFor[uint16]()
	case types.Uint32:
		return reflect.TypeFor[uint32]()
	case types.Uint64:
		return reflect.TypeFor[uint64]()
	case types.Float32:
		return reflect.TypeFor[float32]()
	case types.Float64:
		return reflect.TypeFor[float64]()
	}
	return nil
}

// typeFor is a type of this program for the parts of a list, struct or map. What is printed by a
// method is a text in an interface.
func (p *printer) typeFor(t types.Type, as visit, hidden bool, depth int) (reflect.Type, bool) {
	if types.IsInterface(t) || p.method(t, as) != nil && !hidden {
		return reflect.TypeFor[any](), true
	}
	if depth > 8 {
		return nil, false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		basic := basicType(u)
		return basic, basic != nil
	case *types.Slice:
		elem, ok := p.typeFor(u.Elem(), as, hidden || isText(u.Elem(), as), depth+1)
		if !ok {
			return nil, false
		}
		return reflect.SliceOf(elem), true
	case *types.Array:
		elem, ok := p.typeFor(u.Elem(), as, hidden || isText(u.Elem(), as), depth+1)
		if !ok || u.Len() > largest {
			return nil, false
		}
		return reflect.ArrayOf(int(u.Len()), elem), true
	case *types.Struct:
		var fields []reflect.StructField
		for field := range u.Fields() {
			within := hidden || !field.Exported()
			inner, ok := p.typeFor(field.Type(), as, within, depth+1)
			if !ok || field.Name() == "_" || field.Embedded() && !field.Exported() {
				return nil, false
			}
			one := reflect.StructField{Name: field.Name(), Type: inner, Tag: reflect.StructTag(u.Tag(len(fields)))}
			if !field.Exported() {
				one.PkgPath = "main"
			}
			fields = append(fields, one)
		}
		return reflect.StructOf(fields), true
	case *types.Map:
		key, isBasic := u.Key().Underlying().(*types.Basic)
		elem, ok := p.typeFor(u.Elem(), as, hidden, depth+1)
		if !isBasic || !ok || key.Info()&types.IsFloat != 0 || basicType(key) == nil || p.method(u.Key(), as) != nil {
			return nil, false
		}
		return reflect.MapOf(basicType(key), elem), true
	case *types.Pointer:
		return reflect.TypeFor[*struct{}](), true
	case *types.Signature, *types.Chan:
		return reflect.TypeFor[chan int](), true
	}
	return nil, false
}

// isText tells whether a list of such elements is printed as a text.
func isText(element types.Type, as visit) bool {
	basic, ok := element.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Uint8 && strings.ContainsRune("sqxX", as.verb)
}

// list is a slice or array.
func (p *printer) list(elems []Value, t, element types.Type, as visit, depth int, hidden bool) reflect.Value {
	hidden = hidden || isText(element, as)
	fmt.Fprintf(&p.trace, "[%d", len(elems))
	list := p.made(t, as, hidden)
	if list.IsValid() && list.Kind() == reflect.Slice && elems != nil {
		list.Set(reflect.MakeSlice(list.Type(), len(elems), len(elems)))
	}
	for i, e := range elems {
		one := p.show(e, element, as, depth+1, hidden)
		if list.IsValid() && one.IsValid() && i < list.Len() {
			p.set(list.Index(i), one)
		}
	}
	return list
}

// made is a new variable for a list, struct or map.
func (p *printer) made(t types.Type, as visit, hidden bool) reflect.Value {
	made, ok := p.typeFor(t.Underlying(), as, hidden, 0)
	if !ok {
		return p.inexact()
	}
	return reflect.New(made).Elem()
}

// set stores a part, even into a field that is not exported.
func (p *printer) set(part, v reflect.Value) {
	if !v.Type().AssignableTo(part.Type()) {
		p.exact = false
		return
	}
	reflect.NewAt(part.Type(), unsafe.Pointer(part.UnsafeAddr())).Elem().Set(v)
}

// structure is a struct.
func (p *printer) structure(v Value, t *types.Struct, as visit, depth int, hidden bool) reflect.Value {
	agg, ok := v.(Agg)
	if !ok || len(agg.elems) != t.NumFields() {
		return p.inexact()
	}
	made := p.made(t, as, hidden)
	for i, e := range agg.elems {
		field := t.Field(i)
		var one reflect.Value
		if field.Embedded() && !field.Exported() && !hidden {
			// Its own methods are not called, but those of its exported fields are.
			p.exact = false
			if inner, ok := field.Type().Underlying().(*types.Struct); ok {
				p.structure(e, inner, as, depth+1, false)
			}
			continue
		}
		one = p.show(e, field.Type(), as, depth+1, hidden || !field.Exported())
		if made.IsValid() && one.IsValid() {
			p.set(made.Field(i), one)
		}
	}
	return made
}

// pointer is a pointer: fmt follows one that is an argument, and prints the address of others.
func (p *printer) pointer(v Value, t *types.Pointer, as visit, depth int, hidden bool) reflect.Value {
	if isNil(v) {
		p.trace.WriteString("nil,")
		return reflect.Zero(reflect.TypeFor[*struct{}]())
	}
	pointer, ok := v.(Ptr)
	if !ok || depth > 0 || p.s.heap[pointer.object] == nil {
		return p.inexact()
	}
	o := p.s.heap[pointer.object]
	if p.s.escaped[pointer.object] || o.kind != "memory" {
		p.exact = false
	}
	switch t.Elem().Underlying().(type) {
	case *types.Array, *types.Slice, *types.Struct, *types.Map:
		inner := p.show(partOf(o.value, pointer.path), t.Elem(), as, depth+1, hidden)
		if !inner.IsValid() {
			return p.inexact()
		}
		// A text in place of the whole would be printed without the &, and a method was called.
		if inner.Kind() == reflect.Pointer || inner.Type() == reflect.TypeFor[textValue]() || inner.Type() == reflect.TypeFor[formattedValue]() {
			return p.inexact()
		}
		to := reflect.New(inner.Type())
		to.Elem().Set(inner)
		return to
	}
	return p.inexact()
}

// table is a map: fmt prints it in the order of its keys.
func (p *printer) table(v Value, t types.Type, m *types.Map, as visit, depth int, hidden bool) reflect.Value {
	made := p.made(t, as, hidden)
	if isNil(v) {
		p.trace.WriteString("nil,")
		return made
	}
	pointer, ok := v.(Ptr)
	if !ok || p.s.heap[pointer.object] == nil {
		return p.inexact()
	}
	o := p.s.heap[pointer.object]
	if o.kind != "map" || o.blurred || p.s.escaped[pointer.object] {
		p.exact = false
	}
	keys, sorted := inOrder(o, m.Key())
	if made.IsValid() {
		made.Set(reflect.MakeMap(made.Type()))
	}
	before := len(p.methods)
	fmt.Fprintf(&p.trace, "map %d", len(keys))
	for _, key := range keys {
		shownKey := p.show(o.keys[key], m.Key(), as, depth+1, hidden)
		shown := p.show(o.entries[key], m.Elem(), as, depth+1, hidden)
		if made.IsValid() && shownKey.IsValid() && shown.IsValid() && shown.Type().AssignableTo(made.Type().Elem()) && shownKey.Type().AssignableTo(made.Type().Key()) {
			made.SetMapIndex(shownKey, shown)
		} else {
			p.exact = false
		}
	}
	if !sorted && len(keys) > 1 && len(p.effects(before)) > 0 {
		// The order of the methods is not known.
		p.exact = false
		p.methods, p.visits, p.traces = p.methods[:before], p.visits[:before], p.traces[:before]
		p.called(callback{}, as)
	}
	return made
}

// inOrder are the keys of a map in the order in which fmt prints them, if that is known.
func inOrder(o *Object, t types.Type) ([]string, bool) {
	keys := sortedKeys(o.entries)
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Info()&(types.IsInteger|types.IsString) == 0 {
		return keys, false
	}
	known := true
	slices.SortFunc(keys, func(a, b string) int {
		switch x := o.keys[a].(type) {
		case KInt:
			if y, ok := o.keys[b].(KInt); ok && basic.Info()&types.IsUnsigned != 0 {
				return cmp.Compare(uint64(x), uint64(y))
			} else if ok {
				return cmp.Compare(x, y)
			}
		case KStr:
			if y, ok := o.keys[b].(KStr); ok {
				return cmp.Compare(x, y)
			}
		}
		known = false
		return 0
	})
	return keys, known
}
