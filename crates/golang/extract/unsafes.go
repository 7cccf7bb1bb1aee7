package main

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Memory that a program uses through unsafe pointers may change in ways that types do not tell: its
// numbers and strings are not followed any more. The standard library's own use of unsafe is about
// memory that nothing else changes.

// isUnsafe tells conversions to unsafe.Pointer, and builtins of package unsafe that give memory away.
func isUnsafe(instr ssa.Instruction) bool {
	if pkg := sourceOf(instr.Parent()); pkg != nil && readable[pkg.Pkg.Path()] {
		return false
	}
	switch i := instr.(type) {
	case *ssa.Convert:
		basic, ok := i.Type().Underlying().(*types.Basic)
		return ok && basic.Kind() == types.UnsafePointer
	case *ssa.Call:
		if builtin, ok := i.Call.Value.(*ssa.Builtin); ok {
			switch builtin.Name() {
			case "String", "StringData", "Slice", "SliceData":
				return true
			}
		}
	}
	return false
}

// sourceOf is the package that has the source of a function: an instance of a generic function, and
// the functions inside it, belong to no other.
func sourceOf(fn *ssa.Function) *ssa.Package {
	for fn != nil {
		if fn.Pkg != nil {
			return fn.Pkg
		}
		if origin := fn.Origin(); origin != nil && origin != fn {
			fn = origin
		} else {
			fn = fn.Parent()
		}
	}
	return nil
}

// exposes forgets the plain data of memory that is used through unsafe pointers from now on.
func (d *Driver) exposes(s *State, v Value) {
	name, ok := objectOf(v)
	if !ok || s.heap[name] == nil || s.heap[name].kind != "memory" || s.heap[name].raw {
		return
	}
	d.disturbObject(s, name)
	copied := *s.heap[name]
	copied.raw, copied.owner = true, nil
	s.heap[name] = &copied
}

// withoutPlain is a value that is stored in raw memory: plain data is not known there.
func withoutPlain(v Value) Value {
	switch v := v.(type) {
	case KBool, KInt, KFloat, KStr, KOther, Dyn:
		return Sym{"«?»"}
	case Agg:
		elems := make([]Value, len(v.elems))
		for i, e := range v.elems {
			elems[i] = withoutPlain(e)
		}
		return Agg{elems}
	}
	return v
}
