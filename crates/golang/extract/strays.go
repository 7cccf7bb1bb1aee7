package main

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A write through a pointer, slice or map that a goroutine does not know may reach memory that others
// know by its name: a receiver of a slice does not always know which one it is. Such writes stray, and
// what they may reach is not followed in any goroutine as soon as more than one can see it.

// strays notes that memory of a class is written in this way.
func (d *Driver) strays(class string) {
	if !d.facts.strayed[class] {
		d.facts.strayed[class] = true
		d.changed = true
	}
}

// storeStrays notes a store at an address that is not known.
func (d *Driver) storeStrays(i *ssa.Store) {
	relevance := d.world.relevance
	d.strays(relevance.classAt(i.Addr))
	d.strayInside(i.Val.Type())
}

// strayInside notes that all parts of memory of a type are written.
func (d *Driver) strayInside(t types.Type) {
	relevance := d.world.relevance
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			d.strays(relevance.find(fieldClass(t, i)))
			d.strayInside(u.Field(i).Type())
		}
	case *types.Array:
		d.strays(relevance.find(elementClass(u.Elem())))
		d.strayInside(u.Elem())
	}
}

// typeStrays notes that memory of a type is written.
func (d *Driver) typeStrays(t types.Type) {
	d.strays(wholeClass(t))
	d.strayInside(t)
}

// wholeClass is the class of all memory of a type, whatever it is a part of.
func wholeClass(t types.Type) string {
	if _, isMap := t.Underlying().(*types.Map); isMap {
		t = t.Underlying()
	}
	return "whole " + typeName(t)
}

// abstractAll gives up following all parts of memory that is written in this way.
func (d *Driver) abstractAll(object, path string, v Value) {
	if agg, ok := v.(Agg); ok {
		for i, e := range agg.elems {
			d.abstractAll(object, sub(path, i), e)
		}
		return
	}
	d.abstract(object + path)
}

// isStray tells whether a part of an object may be written through pointers that are not known.
func (d *Driver) isStray(s *State, object, path string, t types.Type) bool {
	if len(d.facts.strayed) == 0 || t == nil {
		return false
	}
	o := s.heap[object]
	if o == nil || o.typ == nil || d.facts.strayed[wholeClass(t)] {
		return o != nil
	}
	return d.facts.strayed[d.world.relevance.find(partClass(o.typ, path, t))]
}

// partClass is the class of the part of a type at a path, which has a type of its own.
func partClass(t types.Type, path string, part types.Type) string {
	class := pointerClass(part)
	for path != "" && t != nil {
		if _, n, rest, ok := window(path); ok {
			array, isArray := t.Underlying().(*types.Array)
			if !isArray {
				return pointerClass(part)
			}
			t, path = types.NewArray(array.Elem(), int64(n)), rest
			continue
		}
		index, rest := step(path)
		if _, isStruct := t.Underlying().(*types.Struct); isStruct {
			class = fieldClass(t, index)
		} else {
			class = elementClass(part)
		}
		t, path = partType(t, index), rest
	}
	return class
}
