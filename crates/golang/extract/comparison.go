package main

import (
	"go/types"
	"strings"
)

// compare is x == y, or its negation.
func (d *Driver) compare(s *State, x, y Value, negated bool) Value {
	answer := func(same bool) Value { return KBool(same != negated) }
	if a, ok := x.(KFloat); ok {
		if b, ok := y.(KFloat); ok {
			return answer(a == b)
		}
	}
	if isConstant(x) && isConstant(y) {
		return answer(equal(x, y))
	}
	if isNil(x) {
		x, y = y, x
	}
	if isNil(y) {
		switch v := x.(type) {
		case Ptr, Clo, Model, Slc, Ifc:
			return answer(false)
		case Ref:
			if o := s.heap[v.object]; o != nil && o.nilable {
				return Dyn{&Expr{op: equality(negated), args: []*Expr{variable(v.object), {op: "nil"}}}}
			}
			return answer(false)
		}
	}
	switch a := x.(type) {
	case Ptr:
		if b, ok := y.(Ptr); ok {
			if a == b {
				return answer(true)
			}
			if !s.joined(a.object) && !s.joined(b.object) && !d.isEmpty(s, a) {
				return answer(false)
			}
		}
	case Ref:
		if b, ok := y.(Ref); ok {
			if a == b {
				return answer(true)
			}
			o, p := s.heap[a.object], s.heap[b.object]
			if o != nil && p != nil && o.kind == "chan" && p.kind == "chan" && d.sameType(a.object, b.object) {
				return Dyn{&Expr{op: equality(negated), args: []*Expr{variable(a.object), variable(b.object)}}}
			}
		}
	case Ifc:
		if b, ok := y.(Ifc); ok && a.typ != nil && b.typ != nil {
			if !types.Identical(a.typ, b.typ) {
				return answer(false)
			}
			return d.compare(s, a.v, b.v, negated)
		}
	case Model:
		if b, ok := y.(Model); ok && !strings.Contains(text(a)+text(b), "«") {
			return answer(equal(a, b))
		}
	case Agg:
		if b, ok := y.(Agg); ok && len(a.elems) == len(b.elems) {
			return d.compareParts(s, a, b, negated)
		}
	}
	left, ok1 := scalar(x)
	right, ok2 := scalar(y)
	if ok1 && ok2 {
		if b, constant := y.(KBool); constant {
			if bool(b) != negated {
				return x
			}
			return Dyn{&Expr{op: "!", args: []*Expr{left}}}
		}
		return Dyn{&Expr{op: equality(negated), args: []*Expr{left, right}}}
	}
	a, b := text(x), text(y)
	if a > b && !isConstant(y) || isConstant(x) {
		a, b = b, a
	}
	id := "eq(" + a + "," + b + ")"
	if negated {
		id = "!" + id
	}
	return Sym{id}
}

// isEmpty tells whether a pointer points to something without size: two of these may have the same
// address.
func (d *Driver) isEmpty(s *State, p Ptr) bool {
	o := s.heap[p.object]
	if o == nil || o.kind != "memory" || o.typ == nil {
		return false
	}
	t := partTypeAt(o.typ, p.path)
	return t != nil && hasNoSize(t, 4)
}

// hasNoSize tells types whose values take no memory.
func hasNoSize(t types.Type, depth int) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if depth == 0 || !hasNoSize(u.Field(i).Type(), depth-1) {
				return false
			}
		}
		return true
	case *types.Array:
		return u.Len() == 0
	}
	return false
}

// compareParts compares structs and arrays: they are equal if all their parts are.
func (d *Driver) compareParts(s *State, a, b Agg, negated bool) Value {
	var open []Value
	for i := range a.elems {
		same := d.compare(s, a.elems[i], b.elems[i], false)
		if known, ok := same.(KBool); ok {
			if !bool(known) {
				return KBool(negated)
			}
			continue
		}
		open = append(open, same)
	}
	if len(open) == 0 {
		return KBool(!negated)
	}
	if all, ok := conjunction(open); ok {
		if negated {
			all = &Expr{op: "!", args: []*Expr{all}}
		}
		return Dyn{all}
	}
	id := "all("
	for _, part := range open {
		id += text(part) + ","
	}
	id += ")"
	if negated {
		id = "!" + id
	}
	return Sym{id}
}

// conjunction is the conjunction of conditions that the program can compute.
func conjunction(parts []Value) (*Expr, bool) {
	var all *Expr
	for _, part := range parts {
		e, ok := scalar(part)
		if !ok {
			return nil, false
		}
		if all == nil {
			all = e
		} else {
			all = &Expr{op: "&&", args: []*Expr{all, e}}
		}
	}
	return all, all.size() < 40
}

func equality(negated bool) string {
	if negated {
		return "!="
	}
	return "=="
}
