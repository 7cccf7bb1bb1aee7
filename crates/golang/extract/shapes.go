package main

import (
	"go/types"
	"slices"
)

// shapeOf is a value as a message: everything that only its goroutine knows becomes a hole.
func (d *Driver) shapeOf(s *State, v Value, depth int) Value {
	if depth > 5 {
		return Sym{"?"}
	}
	switch v := v.(type) {
	case Sym, Any, Iter, Slc, Tagged, nil:
		return Sym{"?"}
	case Dyn:
		if isBool(v.expr, d.kinds) {
			return Hole{kind: "bool"}
		}
		return Hole{kind: "int"}
	case Ref:
		o := s.heap[v.object]
		if o == nil || o.kind == "timer" || o.kind == "cell" && o.multi {
			return Sym{"?"}
		}
		hole := Hole{kind: o.kind, key: o.key, clock: o.readiness(), nilable: o.nilable}
		if !o.multi {
			hole.object = v.object
		}
		return hole
	case Ptr:
		o := s.heap[v.object]
		if o == nil || o.kind != "memory" {
			if o != nil && !o.multi {
				return Box{v.object, v.path, o.typ, Sym{"?"}}
			}
			return Sym{"?"}
		}
		content := d.shapeOf(s, o.value, depth+1)
		name := v.object
		if o.multi {
			name = ""
		}
		return Box{name, v.path, o.typ, content}
	}
	inner := children(v)
	if len(inner) == 0 {
		return v
	}
	out := make([]Value, len(inner))
	for i, child := range inner {
		out[i] = d.shapeOf(s, child, depth+1)
	}
	return rebuild(v, out)
}

// What makes a channel ready besides messages and its close: time that a context ends by, or
// something that only those know who have the context.
const (
	readyByDeadline = "deadline"
	readyByContext  = "context"
)

// readiness says what makes a channel ready besides messages and its close.
func (o *Object) readiness() string {
	switch {
	case !isDone(o):
		return o.clock
	case o.timed && len(o.ancestors) == 0 && !o.foreign:
		return readyByDeadline
	}
	return readyByContext
}

// joinShapes is the least shape that both messages have.
func (d *Driver) joinShapes(a, b Value) Value {
	if equal(a, b) {
		return a
	}
	if scalarKind(a) != "" && scalarKind(a) == scalarKind(b) {
		return Hole{kind: scalarKind(a)}
	}
	if isNil(a) {
		a, b = b, a
	}
	if _, ok := b.(Maybe); ok {
		a, b = b, a
	}
	if hole, ok := b.(Hole); ok && hole.kind == "cell" {
		a, b = b, a
	}
	if _, ok := b.(Known); ok && isConstant(a) {
		a, b = b, a
	}
	switch x := a.(type) {
	case Maybe:
		if isNil(b) {
			return x
		}
		if y, ok := b.(Maybe); ok {
			b = y.inner
		}
		return maybe(d.joinShapes(x.inner, b))
	case Hole:
		if x.kind == "cell" {
			// A cell can only be known as part of its object, which is the same in all messages.
			if y, ok := b.(Known); ok && x.object == y.object {
				return y
			}
			if scalarKind(b) != "" || isConstant(b) {
				// An earlier run did not know yet that it is one.
				return x
			}
			break
		}
		if y, ok := b.(Hole); ok && x.kind == y.kind && x.clock == y.clock {
			if x.kind == "chan" {
				d.unite(x.key, y.key)
			}
			if x.object != y.object {
				x.object = ""
			}
			x.nilable = x.nilable || y.nilable
			return x
		}
		if y, ok := b.(Known); ok {
			if x.object == y.object {
				return y
			}
			x.object = ""
			return x
		}
		if isNil(b) && x.kind == "chan" {
			x.object, x.nilable = "", true
			return x
		}
	case Known:
		if y, ok := b.(Hole); ok {
			return d.joinShapes(y, x)
		}
		if scalarKind(b) != "" || isConstant(b) && !isNil(b) {
			return x
		}
	case Box:
		if isNil(b) {
			return Maybe{x}
		}
		if y, ok := b.(Box); ok && x.path == y.path && types.Identical(x.typ, y.typ) {
			name := x.object
			if y.object != name {
				name = ""
			}
			return Box{name, x.path, x.typ, d.joinShapes(x.content, y.content)}
		}
	case Clo:
		if isNil(b) {
			return Maybe{x}
		}
		if y, ok := b.(Clo); ok && x.fn == y.fn {
			return d.joinChildren(x, y)
		}
	case Model:
		if y, ok := b.(Model); ok && x.name == y.name && len(x.args) == len(y.args) {
			return d.joinChildren(x, y)
		}
	case Ifc:
		if isNil(b) {
			return Sym{"?"}
		}
		if y, ok := b.(Ifc); ok && x.typ != nil && y.typ != nil && types.Identical(x.typ, y.typ) {
			return d.joinChildren(x, y)
		}
	case Agg:
		if y, ok := b.(Agg); ok && len(x.elems) == len(y.elems) {
			return d.joinChildren(x, y)
		}
		if isNil(b) {
			return x
		}
	}
	return Sym{"?"}
}

// maybe is a shape, or nil.
func maybe(shape Value) Value {
	switch shape.(type) {
	case Sym, Maybe:
		return shape
	}
	return Maybe{shape}
}

func (d *Driver) joinChildren(a, b Value) Value {
	x, y := children(a), children(b)
	out := make([]Value, len(x))
	for i := range x {
		out[i] = d.joinShapes(x[i], y[i])
	}
	return rebuild(a, out)
}

func scalarKind(v Value) string {
	switch v := v.(type) {
	case KInt:
		return "int"
	case KBool:
		return "bool"
	case Hole:
		if v.kind == "int" || v.kind == "bool" {
			return v.kind
		}
	}
	return ""
}

// oneHole keeps one hole: a channel or lock before a number, the first before the others. What is
// always the same object needs none.
func oneHole(m *Messages, shape Value) Value {
	var holes []Hole
	collectHoles(shape, &holes)
	if len(holes) <= 1 {
		return shape
	}
	isCell := func(hole Hole) bool { return hole.kind == "cell" }
	isOther := func(hole Hole) bool { return hole.kind != "cell" }
	if slices.ContainsFunc(holes, isCell) && slices.ContainsFunc(holes, isOther) {
		// Everything else has no other way.
		return oneHole(m, withoutCells(shape))
	}
	keep := -1
	objects := 0
	for i, hole := range holes {
		if scalarKind(hole) == "" && hole.object == "" {
			if objects == 0 {
				keep = i
			}
			objects++
		}
	}
	if objects > 1 {
		m.lost = true
	}
	for i, hole := range holes {
		if keep < 0 && scalarKind(hole) == "" || objects == 0 && keep >= 0 && scalarKind(holes[keep]) == "" && scalarKind(hole) != "" {
			// Who receives may know the object anyway; a number has no other way.
			keep = i
		}
	}
	if keep < 0 {
		keep = 0
	}
	count := 0
	return fillHoles(shape, &count, keep)
}

// withoutCells is a shape that carries no cell.
func withoutCells(shape Value) Value {
	if hole, ok := shape.(Hole); ok && hole.kind == "cell" {
		return Known{hole.object}
	}
	inner := children(shape)
	if len(inner) == 0 {
		return shape
	}
	out := make([]Value, len(inner))
	for i, child := range inner {
		out[i] = withoutCells(child)
	}
	return rebuild(shape, out)
}

func collectHoles(v Value, holes *[]Hole) {
	if hole, ok := v.(Hole); ok {
		*holes = append(*holes, hole)
	}
	for _, child := range children(v) {
		collectHoles(child, holes)
	}
}

func fillHoles(v Value, count *int, keep int) Value {
	if hole, ok := v.(Hole); ok {
		*count++
		if *count-1 != keep {
			if hole.object != "" {
				return Known{hole.object}
			}
			return Sym{"?"}
		}
		return v
	}
	inner := children(v)
	if len(inner) == 0 {
		return v
	}
	out := make([]Value, len(inner))
	for i, child := range inner {
		out[i] = fillHoles(child, count, keep)
	}
	return rebuild(v, out)
}

func holeOf(shape Value) (Hole, bool) {
	var holes []Hole
	collectHoles(shape, &holes)
	if len(holes) == 0 {
		return Hole{}, false
	}
	return holes[0], true
}
