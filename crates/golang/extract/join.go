package main

import (
	"fmt"
	"go/types"
	"strings"
)

// joining generalises two states that stand at one place.
type joining struct {
	d     *Driver
	old   *State
	now   *State
	out   *State
	place string
	subst map[string]*Expr
	made  map[string]string
}

// join is the least state that covers both, as far as states can say: what differs becomes unknown,
// channels and locks that differ become parameters. It also tells what the parameters are now.
func (d *Driver) join(old, now *State, place string) (*State, map[string]*Expr) {
	out := now.clone()
	for i := range out.frames {
		out.own(i)
	}
	j := &joining{d, old, now, out, place, map[string]*Expr{}, map[string]string{}}
	var values []Value
	olds := old.clone()
	d.roots(olds, func(_ string, v Value) Value { values = append(values, v); return nil })
	labels := map[string]Value{}
	index := 0
	d.roots(olds, func(label string, v Value) Value { labels[label] = values[index]; index++; return nil })
	d.roots(out, func(label string, v Value) Value {
		before, ok := labels[label]
		if !ok {
			return v
		}
		return j.value(before, v, "r"+label, 0)
	})
	// Objects that both know by one name.
	for _, name := range sortedKeys(now.heap) {
		o, before := out.heap[name], old.heap[name]
		if before == nil || o == nil || o == before {
			continue
		}
		switch o.kind {
		case "memory", "timer":
			if o.value == nil || before.value == nil {
				continue
			}
			copied := *out.heap[name]
			copied.value = j.value(before.value, o.value, "o"+name, 0)
			out.heap[name] = &copied
		case "cell":
			if o.value != nil && (before.value == nil || !equal(o.value, before.value)) {
				copied := *o
				copied.value = nil
				out.heap[name] = &copied
			}
		case "mutex", "rwmutex", "waitgroup", "chan":
			// How often it is locked, or how much is in its buffer, is not the same in every round.
			if o.value != nil && (o.shut != before.shut || before.value == nil || !equal(o.value, before.value)) {
				copied := *o
				copied.value, copied.shut, copied.memory = nil, false, nil
				out.heap[name] = &copied
			}
		case "map":
			if len(o.entries) != len(before.entries) || o.blurred || before.blurred {
				copied := *o
				copied.blurred = true
				out.heap[name] = &copied
			}
		}
		if old.escaped[name] {
			out.escaped[name] = true
		}
	}
	for fact, truth := range out.facts {
		if before, ok := old.facts[fact]; !ok || before != truth {
			delete(out.facts, fact)
		}
	}
	return out, j.subst
}

func (j *joining) value(a, b Value, label string, depth int) Value {
	if _, computed := b.(Dyn); computed {
		// Even if it is written in the same way: the names mean something else from here on.
		if v, ok := j.scalar(a, b, label); ok {
			return v
		}
	}
	if equal(a, b) && !strings.Contains(text(b), "dyn") {
		return b
	}
	if depth > 8 {
		return j.unknown(label)
	}
	if v, ok := j.scalar(a, b, label); ok {
		return v
	}
	if equal(a, b) && len(children(b)) == 0 {
		return b
	}
	switch y := b.(type) {
	case Ref:
		if v := j.object(a, y, label); v != nil {
			return v
		}
	case KNil:
		if x, ok := a.(Ref); ok {
			if v := j.object(x, y, label); v != nil {
				return v
			}
		}
	case Ptr:
		if x, ok := a.(Ptr); ok && x.path == y.path {
			return j.pointer(x, y, label, depth)
		}
	case Clo:
		if x, ok := a.(Clo); ok && x.fn == y.fn {
			return j.inner(x, y, label, depth)
		}
	case Model:
		if x, ok := a.(Model); ok && x.name == y.name && len(x.args) == len(y.args) {
			return j.inner(x, y, label, depth)
		}
	case Ifc:
		if x, ok := a.(Ifc); ok && x.typ != nil && y.typ != nil && types.Identical(x.typ, y.typ) {
			return j.inner(x, y, label, depth)
		}
	case Agg:
		if x, ok := a.(Agg); ok && len(x.elems) == len(y.elems) {
			return j.inner(x, y, label, depth)
		}
	case Tup:
		if x, ok := a.(Tup); ok && len(x.elems) == len(y.elems) {
			return j.inner(x, y, label, depth)
		}
	case Any:
		return b
	}
	if _, any := a.(Any); any {
		return a
	}
	return j.unknown(label)
}

// scalar joins two numbers or flags: the node gets a parameter for either.
func (j *joining) scalar(a, b Value, label string) (Value, bool) {
	if !j.d.limits.scalars {
		return nil, false
	}
	x, ok1 := scalar(a)
	y, ok2 := scalar(b)
	if !ok1 || !ok2 || isBool(x, j.d.kinds) != isBool(y, j.d.kinds) {
		return nil, false
	}
	name := j.name("s" + label)
	j.d.kinds[name] = "int"
	if isBool(x, j.d.kinds) {
		j.d.kinds[name] = "bool"
	}
	j.subst[name] = y
	j.d.comesFrom(name, y)
	j.d.counted = true
	return Dyn{variable(name)}, true
}

func (j *joining) inner(a, b Value, label string, depth int) Value {
	x, y := children(a), children(b)
	out := make([]Value, len(x))
	for i := range x {
		out[i] = j.value(x[i], y[i], fmt.Sprintf("%s.%d", label, i), depth+1)
	}
	return rebuild(b, out)
}

func (j *joining) unknown(label string) Value {
	key := "join " + j.place + label
	id, ok := j.d.names[key]
	if !ok {
		id = fmt.Sprintf("«%d»", len(j.d.names))
		j.d.names[key] = id
	}
	j.out.retire(id)
	return Sym{id}
}

// object joins two channels or locks: the node gets a parameter for either.
func (j *joining) object(a, b Value, label string) Value {
	kind, key := "", ""
	var model *Object
	for _, side := range []struct {
		v Value
		s *State
	}{{a, j.old}, {b, j.now}} {
		r, ok := side.v.(Ref)
		if !ok {
			if !isNil(side.v) {
				return nil
			}
			continue
		}
		o := side.s.heap[r.object]
		if o == nil || o.kind == "timer" || o.kind == "cell" && side.v == b && isNil(a) {
			return nil
		}
		if kind != "" && (kind != o.kind || !sameReadiness(model, o)) {
			return nil
		}
		if key != "" && key != o.key {
			j.d.unite(key, o.key)
		}
		if kind == "" {
			kind, key = o.kind, o.key
		}
		model = o
	}
	if model == nil || kind != "chan" && (isNil(a) || isNil(b)) {
		return nil
	}
	name := j.name(label)
	j.d.kinds[name], j.d.keys[name] = j.d.kindOf(kind), key
	j.out.heap[name] = &Object{
		kind: kind, key: key, typ: model.typ, multi: true, ancestors: model.ancestors, timed: model.timed, foreign: model.foreign,
		nilable: isNil(a) || isNil(b) || model.nilable, room: -1, clock: model.clock,
	}
	j.out.escaped[name] = true
	if r, ok := b.(Ref); ok {
		j.subst[name] = variable(r.object)
	} else {
		j.subst[name] = &Expr{op: "nil"}
	}
	return Ref{name}
}

// sameReadiness tells whether time and the same contexts make two channels ready.
func sameReadiness(a, b *Object) bool {
	if a.readiness() != b.readiness() || a.timed != b.timed || a.foreign != b.foreign || len(a.ancestors) != len(b.ancestors) {
		return false
	}
	for i := range a.ancestors {
		if !equal(a.ancestors[i], b.ancestors[i]) {
			return false
		}
	}
	return true
}

func (d *Driver) kindOf(kind string) string {
	if kind == "cell" {
		return "chan"
	}
	return kind
}

func (j *joining) name(label string) string {
	key := "joined " + j.place + label
	name, ok := j.d.names[key]
	if !ok {
		j.d.taken["j"]++
		name = fmt.Sprintf("j_%d", j.d.taken["j"])
		j.d.names[key] = name
	}
	return name
}

// pointer joins pointers to two objects by an object that is like both.
func (j *joining) pointer(a, b Ptr, label string, depth int) Value {
	if a.object == b.object {
		return b
	}
	o, p := j.old.heap[a.object], j.now.heap[b.object]
	if o == nil || p == nil || o.kind != "memory" || p.kind != "memory" || o.typ == nil || p.typ == nil || !types.Identical(o.typ, p.typ) {
		return j.unknown(label)
	}
	pair := a.object + "+" + b.object
	if name, ok := j.made[pair]; ok {
		return Ptr{name, b.path}
	}
	name := j.name("p" + label)
	j.made[pair] = name
	content := j.value(o.value, p.value, label+"*", depth+1)
	j.out.heap[name] = &Object{kind: "memory", typ: p.typ, value: content, multi: true, raw: o.raw || p.raw}
	if j.old.escaped[a.object] || j.now.escaped[b.object] || strings.HasPrefix(a.object, "j_") {
		j.out.escaped[name] = true
	}
	return Ptr{name, b.path}
}
