package main

import (
	"go/types"
	"math"
)

// This file knows the panics of comparisons and map keys: two interfaces that hold the same type are
// compared by their values, and some types have no comparison.

// failsEqual tells whether x == y panics. Both have the type t.
func (d *Driver) failsEqual(s *State, x, y Value, t types.Type) (danger, string) {
	if t == nil || !hasInterface(t, 8) {
		return safe, ""
	}
	if isNil(x) || isNil(y) {
		return safe, ""
	}
	if a, b, ok := parts(x, y); ok {
		return d.failsParts(s, a, b, t)
	}
	a, ok1 := x.(Ifc)
	b, ok2 := y.(Ifc)
	switch {
	case ok1 && ok2 && a.typ != nil && b.typ != nil:
		if !types.Identical(a.typ, b.typ) {
			return safe, ""
		}
		if !types.Comparable(a.typ) {
			return certain, "runtime error: comparing uncomparable type " + printedType(a.typ)
		}
		return d.failsEqual(s, a.v, b.v, a.typ)
	case ok1 && isSafeKey(a.typ), ok2 && isSafeKey(b.typ):
		return safe, ""
	case isModel(x), isModel(y):
		return safe, ""
	}
	return d.mayBeUncomparable(t), ""
}

// failsParts compares structs and arrays in the order of their parts, up to the first that differ.
func (d *Driver) failsParts(s *State, a, b Agg, t types.Type) (danger, string) {
	open := false // a part before may differ
	for i := range a.elems {
		if field := fieldOf(t, i); field != nil && field.Name() == "_" {
			continue
		}
		danger, message := d.failsEqual(s, a.elems[i], b.elems[i], partType(t, i))
		switch {
		case danger == certain && !open:
			return certain, message
		case danger != safe:
			return unsure, ""
		}
		same, known := d.compare(s, a.elems[i], b.elems[i], false).(KBool)
		if known && !bool(same) {
			return safe, ""
		}
		open = open || !known
	}
	return safe, ""
}

// failsKey tells whether a value can be no key of a map.
func (d *Driver) failsKey(key Value, t types.Type) (danger, string) {
	if t == nil || isNil(key) || isModel(key) {
		return safe, ""
	}
	switch v := key.(type) {
	case Ifc:
		if v.typ == nil {
			return d.mayBeUncomparable(t), ""
		}
		if !types.Comparable(v.typ) {
			return certain, "runtime error: hash of unhashable type " + printedType(v.typ)
		}
		return d.failsKey(v.v, v.typ)
	case Agg:
		worst := safe
		for i, e := range v.elems {
			danger, message := d.failsKey(e, partType(t, i))
			if danger == certain {
				return certain, message
			}
			worst = max(worst, danger)
		}
		return worst, ""
	}
	if !hasInterface(t, 8) {
		return safe, ""
	}
	return d.mayBeUncomparable(t), ""
}

// mayBeUncomparable tells whether a value of a type of which nothing else is known may hold one that
// cannot be compared: only if the program puts such values into interfaces.
func (d *Driver) mayBeUncomparable(t types.Type) danger {
	if d.world.boxesUncomparable(t) {
		return unsure
	}
	return safe
}

// boxesUncomparable tells whether values without comparison are put into interfaces of a type, or into
// those inside it.
func (w *World) boxesUncomparable(t types.Type) bool {
	found, known := w.uncomparable[t]
	if !known {
		target, isInterface := t.Underlying().(*types.Interface)
		for _, boxed := range w.graph.boxed {
			if !isSafeKey(boxed) && (!isInterface || types.Implements(boxed, target)) {
				found = true
				break
			}
		}
		w.uncomparable[t] = found
	}
	return found
}

// parts takes two structs or arrays of the same size apart.
func parts(x, y Value) (Agg, Agg, bool) {
	a, ok1 := x.(Agg)
	b, ok2 := y.(Agg)
	return a, b, ok1 && ok2 && len(a.elems) == len(b.elems)
}

func isModel(v Value) bool {
	if ifc, ok := v.(Ifc); ok {
		v = ifc.v
	}
	_, ok := v.(Model)
	return ok
}

// isSafeKey tells types whose values can always be compared.
func isSafeKey(t types.Type) bool {
	return t != nil && types.Comparable(t) && !hasInterface(t, 8)
}

// hasInterface tells whether comparing values of a type compares interfaces.
func hasInterface(t types.Type, depth int) bool {
	if depth == 0 {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Struct:
		for i := range u.NumFields() {
			if hasInterface(u.Field(i).Type(), depth-1) {
				return true
			}
		}
	case *types.Array:
		return u.Len() > 0 && hasInterface(u.Elem(), depth-1)
	}
	return false
}

// printedType is how the runtime writes a type.
func printedType(t types.Type) string {
	return types.TypeString(unaliased(t, 8), func(p *types.Package) string { return p.Name() })
}

// floatKey is a number as the key of a map: both zeros are one key, and what is equal to nothing, not
// even to itself, is none.
func floatKey(x KFloat) (KFloat, bool) {
	if math.IsNaN(float64(x)) {
		return x, false
	}
	if x == 0 {
		return 0, true
	}
	return x, true
}
