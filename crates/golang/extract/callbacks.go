// Which functions and methods code that is not read may call back.

package main

import (
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// callback is a function or method that code which is not read may call.
type callback struct {
	fn       *ssa.Function // nil if it is not known
	receiver Value
	bind     []Value
	method   bool
}

// callbacks lists what a function that is not read may call back: functions among what it is given
// and methods of what it is given, if other goroutines could notice them.
func (d *Driver) callbacks(s *State, target Target) []callback {
	names := d.world.calledBack
	path, _ := d.world.outsidePath(target.fn)
	switch path {
	case "reflect":
		// What calls methods or functions is not quiet.
		return nil
	case "encoding/json":
		if target.fn.Name() == "NewEncoder" || target.fn.Name() == "NewDecoder" {
			break // they keep what they write to, or read from
		}
		names = map[string]bool{}
		for _, format := range []string{"JSON", "Text"} {
			names["Marshal"+format] = !strings.HasPrefix(target.fn.Name(), "Unmarshal")
			names["Unmarshal"+format] = !strings.HasPrefix(target.fn.Name(), "Marshal")
		}
	case "fmt", "log", "testing", "errors":
		if strings.Contains(target.fn.Name(), "can") {
			break // Scan calls other methods than Print
		}
		names = printed
		if strings.HasPrefix(target.fn.Name(), "Fprint") || path == "log" {
			names = map[string]bool{"String": true, "Error": true, "Format": true, "GoString": true, "Write": true}
		}
	}
	prints := path == "fmt" || path == "log" || path == "testing" || path == "errors"
	c := &calling{d: d, s: s, names: names, seen: map[string]bool{}, addresses: !prints, marshals: path == "encoding/json"}
	if (path == "fmt" || path == "log" || path == "testing") && !strings.Contains(target.fn.Name(), "can") {
		if found, ok := d.printedBack(s, target); ok {
			c.found = found
			if strings.HasPrefix(target.fn.Name(), "Fprint") {
				// The writer is written to once, when everything is there.
				c.names = map[string]bool{"Write": true}
				if writer, ok := target.args[0].(Ifc); ok {
					c.methods(writer.v, writer.typ)
				} else {
					c.unknown(target.fn.Signature.Params().At(0).Type())
				}
			}
			return c.found
		}
	}
	params := target.fn.Signature.Params()
	offset := 0
	if target.fn.Signature.Recv() != nil {
		offset = 1
	}
	for i, arg := range target.args {
		var t types.Type
		if i < offset {
			t = target.fn.Signature.Recv().Type()
		} else if i-offset < params.Len() {
			t = params.At(i - offset).Type()
		}
		c.value(arg, t, 0)
		if to, ok := arg.(Ifc); ok && c.addresses {
			c.decoded(to.typ)
		}
	}
	if registers[functionName(target.fn)] {
		return slices.DeleteFunc(c.found, func(one callback) bool { return one.fn != nil && !d.world.communicates(one.fn) })
	}
	return c.found
}

// givesCallback tells whether a method that is not known is given something that it may call.
func (d *Driver) givesCallback(s *State, call *ssa.CallCommon, args []Value) bool {
	c := &calling{d: d, s: s, names: d.world.calledBack, seen: map[string]bool{}, addresses: true}
	for i, arg := range args {
		c.value(arg, call.Signature().Params().At(i).Type(), 0)
	}
	return len(c.found) > 0
}

// calling collects callbacks.
type calling struct {
	d     *Driver
	s     *State
	names map[string]bool
	seen  map[string]bool
	found []callback
	// addresses: methods of pointers to what is in memory are called, too.
	addresses bool
	// inMemory: what is looked at has an address.
	inMemory bool
	// marshals: values are looked at as encoding/json does.
	marshals bool
}

func (c *calling) value(v Value, t types.Type, depth int) {
	if depth > 12 || len(c.found) > 64 {
		return
	}
	switch v := v.(type) {
	case Clo:
		if c.d.world.hasEffects(v.fn) {
			c.found = append(c.found, callback{fn: v.fn, bind: v.bind})
		}
		for _, bound := range v.bind {
			c.value(bound, nil, depth+1)
		}
		return
	case Model:
		switch v.name {
		case "context", "rlocker", "testing":
		default:
			c.found = append(c.found, callback{receiver: v})
		}
		return
	case Ifc:
		c.without(func() { c.value(v.v, v.typ, depth+1) })
		return
	case Sym:
		if !fromOutside(v.id) {
			c.unknown(t)
		}
		return
	}
	if t != nil && c.methods(v, t) && c.marshals {
		return
	}
	switch v := v.(type) {
	case Agg:
		for i, e := range v.elems {
			c.part(e, t, i, depth)
		}
	case Ptr:
		c.object(v.object, depth)
	case Slc:
		c.object(v.object, depth)
	}
}

// decoded adds the methods of values that a function which decodes may make.
func (c *calling) decoded(t types.Type) {
	if t == nil {
		return
	}
	if _, isPointer := t.Underlying().(*types.Pointer); !isPointer {
		return
	}
	for _, inner := range c.d.world.inside(t) {
		for _, fn := range c.d.world.methodsOf(types.NewPointer(inner)) {
			decodes := strings.HasPrefix(fn.Name(), "Unmarshal") || fn.Name() == "GobDecode" || fn.Name() == "Scan"
			if decodes && c.names[fn.Name()] && c.d.world.hasEffects(fn) {
				c.found = append(c.found, callback{})
				return
			}
		}
	}
}

// without looks at something that has no address.
func (c *calling) without(look func()) {
	before := c.inMemory
	c.inMemory = false
	look()
	c.inMemory = before
}

// part looks at a part of a struct or array. encoding/json leaves out fields that are not exported, and
// may leave out others.
func (c *calling) part(v Value, t types.Type, i, depth int) {
	field := fieldOf(t, i)
	if !c.marshals || field == nil {
		c.value(v, partType(t, i), depth+1)
		return
	}
	tag := reflect.StructTag(t.Underlying().(*types.Struct).Tag(i)).Get("json")
	if tag == "-" || !field.Exported() && !field.Embedded() {
		return
	}
	before := len(c.found)
	if strings.Contains(tag, ",omitzero") && c.d.world.asksZero(field.Type()) {
		c.found = append(c.found, callback{})
	}
	c.value(v, field.Type(), depth+1)
	if len(c.found) > before && (strings.Contains(tag, ",") || field.Embedded()) {
		c.found = append(c.found[:before], callback{})
	}
}

// asksZero tells types with an IsZero, which encoding/json calls, that others notice.
func (w *World) asksZero(t types.Type) bool {
	for _, of := range []types.Type{t, types.NewPointer(t)} {
		if fn := w.methodNamed(of, "IsZero"); fn != nil && w.hasEffects(fn) {
			return true
		}
		if types.IsInterface(t) && len(w.graph.boxedWith["IsZero"]) > 0 {
			return true
		}
	}
	return false
}

func (c *calling) object(name string, depth int) {
	if c.seen[name] {
		return
	}
	c.seen[name] = true
	o := c.s.heap[name]
	if o == nil {
		return
	}
	before := c.inMemory
	c.inMemory = true
	c.value(o.value, o.typ, depth+1)
	c.inMemory = before
	if o.kind == "map" {
		m, _ := o.typ.Underlying().(*types.Map)
		basic, _ := m.Key().Underlying().(*types.Basic)
		isText := basic != nil && basic.Info()&types.IsString != 0
		c.without(func() {
			for _, key := range sortedKeys(o.entries) {
				if !c.marshals || !isText {
					c.value(o.keys[key], m.Key(), depth+1)
				}
				c.value(o.entries[key], m.Elem(), depth+1)
			}
		})
		if o.blurred {
			c.unknown(m.Key())
			c.unknown(m.Elem())
		}
	}
}

// methods adds the methods of a value that may be called and noticed. It tells whether it has any that
// is called, noticed or not.
func (c *calling) methods(v Value, t types.Type) bool {
	if t == nil || types.IsInterface(t) {
		return false
	}
	if _, isModel := v.(Model); isModel || isNil(v) {
		return false
	}
	called := false
	for _, fn := range c.d.world.noticedMethods(t) {
		if !c.names[fn.Name()] || c.marshals && strings.HasSuffix(fn.Name(), "Text") && c.d.world.methodNamed(t, strings.TrimSuffix(fn.Name(), "Text")+"JSON") != nil {
			continue
		}
		called = true
		c.found = append(c.found, callback{fn: fn, receiver: v, method: true})
	}
	if _, isPointer := t.Underlying().(*types.Pointer); isPointer || !c.addresses || !c.inMemory {
		return called
	}
	// A method of the pointer, whose receiver has no name here.
	for _, fn := range c.d.world.methodsOf(types.NewPointer(t)) {
		if c.names[fn.Name()] && isCalledBack(fn) && c.d.world.hasEffects(fn) && c.d.world.methodNamed(t, fn.Name()) == nil {
			c.found = append(c.found, callback{})
			return true
		}
	}
	return called
}

// noticedMethods are the methods of a type that may be called through an interface and noticed.
func (w *World) noticedMethods(t types.Type) []*ssa.Function {
	found, known := w.noticed[t]
	if known {
		return found
	}
	set := w.program.MethodSets.MethodSet(t)
	for i := range set.Len() {
		selection := set.At(i)
		isBoxed := func(boxed types.Type) bool { return types.Identical(boxed, t) }
		if slices.ContainsFunc(w.graph.boxedWith[selection.Obj().Name()], isBoxed) {
			if fn := w.program.MethodValue(selection); fn != nil {
				found = append(found, fn)
			}
		}
	}
	w.noticed[t] = found
	return found
}

// unknown adds what a value of which only the type is known may lead to.
func (c *calling) unknown(t types.Type) {
	if t == nil {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		c.found = append(c.found, callback{})
	case *types.Interface:
		for name := range c.names {
			for _, boxed := range c.d.world.graph.boxedWith[name] {
				if types.Implements(boxed, u) && !isStandard(boxed) {
					c.found = append(c.found, callback{})
					return
				}
			}
		}
	case *types.Slice:
		c.unknown(u.Elem())
	case *types.Pointer:
		if _, isStruct := u.Elem().Underlying().(*types.Struct); !isStruct {
			c.unknown(u.Elem())
		}
	}
}

// quietInterface tells interfaces whose values come from packages that wait for nothing: those that
// the packages which are read declare, and those of quiet packages.
func quietInterface(call *ssa.CallCommon) bool {
	pkg := call.Method.Pkg()
	if pkg == nil {
		return true // error
	}
	if named, ok := types.Unalias(call.Value.Type()).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "hash" {
		// A hash writes to nothing but itself.
		return true
	}
	switch path := pkg.Path(); path {
	case "net", "net/http", "database/sql", "net/rpc", "sync", "context", "io", "os/exec":
		return false
	}
	return true
}

// isLoudInterface tells interfaces whose values come from packages that may wait: a variable of such
// a package may hold one without any call.
func isLoudInterface(call *ssa.CallCommon) bool {
	pkg := call.Method.Pkg()
	if pkg == nil {
		return false
	}
	switch pkg.Path() {
	case "sync", "context", "io":
		return false
	}
	return !quietInterface(call)
}

// isLoudVariable tells variables of packages that are not read and may wait through which something
// can be called. Errors are only compared and printed.
func (w *World) isLoudVariable(global *ssa.Global) bool {
	path := global.Pkg.Pkg.Path()
	if w.isRoot(global.Pkg) || isQuietPackage(path) || path+"."+global.Name() == "net/http.NoBody" {
		return false
	}
	t := global.Type().(*types.Pointer).Elem()
	return !plain(t, 6) && mayHoldMethods(t, 6)
}

// isStandard tells types of the packages of the standard library that are read: their methods do no
// more than call those of others.
func isStandard(t types.Type) bool {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && readable[named.Obj().Pkg().Path()]
}
