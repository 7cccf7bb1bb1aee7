package main

import (
	"fmt"
	"go/types"
)

// unknown is a value that this program does not follow, named after the place it comes from.
func (d *Driver) unknown(s *State, context string, at any, typ types.Type) Value {
	return d.unknownFrom(s, context, at, typ, false)
}

// fromEnvironment is a value that comes from outside the program and may be any of its type.
func (d *Driver) fromEnvironment(s *State, context string, at any, typ types.Type) Value {
	return d.unknownFrom(s, context, at, typ, true)
}

func (d *Driver) unknownFrom(s *State, context string, at any, typ types.Type, outside bool) Value {
	key := fmt.Sprintf("sym %t %s%p", outside, context, at)
	id, ok := d.names[key]
	if !ok {
		id = fmt.Sprintf("«%d»", len(d.names))
		if outside {
			id = fmt.Sprintf("«e%d»", len(d.names))
		}
		d.names[key] = id
	}
	if s.retire(id) {
		d.steps += len(s.heap) / 2
	}
	return d.unknownOf(id, typ, 0)
}

// unknownOf is an unknown struct with unknown fields, so that each can be replaced.
func (d *Driver) unknownOf(id string, typ types.Type, depth int) Value {
	if typ == nil {
		return Sym{id}
	}
	if tuple, ok := typ.(*types.Tuple); ok {
		elems := make([]Value, tuple.Len())
		for i := range elems {
			elems[i] = d.unknownOf(fmt.Sprintf("%s.%d", id, i), tuple.At(i).Type(), depth)
		}
		return Tup{elems}
	}
	if st, ok := typ.Underlying().(*types.Struct); ok && depth < 3 {
		elems := make([]Value, st.NumFields())
		for i := range elems {
			elems[i] = d.unknownOf(fmt.Sprintf("%s.%d", id, i), st.Field(i).Type(), depth+1)
		}
		return Agg{elems}
	}
	return Sym{id}
}
