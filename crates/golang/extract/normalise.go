package main

import (
	"fmt"
)

// compose2 is a substitution followed by another one.
func compose2(first, second map[string]*Expr) map[string]*Expr {
	if len(second) == 0 {
		return first
	}
	out := map[string]*Expr{}
	for name, expr := range second {
		out[name] = expr
	}
	for name, expr := range first {
		out[name] = expr.rename(second)
	}
	return out
}

// normalise gives every number that the program computes a name of the place, so that rounds of a
// loop which compute other numbers in the same way are in the same state. All of them get one: the
// names mean something else from here on.
func (d *Driver) normalise(s *State, place string) map[string]*Expr {
	if !d.limits.scalars {
		return nil
	}
	subst := map[string]*Expr{}
	for i := range s.frames {
		s.own(i)
	}
	d.roots(s, func(label string, v Value) Value {
		if now, changed := d.namedInside(v, place, "r"+label, subst); changed {
			return now
		}
		return nil
	})
	d.steps += len(s.heap) / 8
	for _, name := range sortedKeys(s.heap) {
		o := s.heap[name]
		if o.kind != "memory" && o.kind != "map" || !o.remember().computed {
			continue
		}
		copied := *o
		copied.value, _ = d.namedInside(o.value, place, "o"+name, subst)
		if len(o.entries) > 0 {
			copied.entries = map[string]Value{}
			for key, v := range o.entries {
				copied.entries[key], _ = d.namedInside(v, place, "o"+name+"["+key+"]", subst)
			}
		}
		s.heap[name] = &copied
	}
	if len(subst) == 0 {
		return nil
	}
	return subst
}

// namedInside names the numbers in a value.
func (d *Driver) namedInside(v Value, place, label string, subst map[string]*Expr) (Value, bool) {
	if dyn, ok := v.(Dyn); ok {
		return d.named(dyn, place, label, subst), true
	}
	var out []Value
	inner := children(v)
	for i, e := range inner {
		if now, changed := d.namedInside(e, place, fmt.Sprintf("%s.%d", label, i), subst); changed {
			if out == nil {
				out = append([]Value(nil), inner...)
			}
			out[i] = now
		}
	}
	if out == nil {
		return v, false
	}
	return rebuild(v, out), true
}

// named is a variable of the program for a computed number.
func (d *Driver) named(dyn Dyn, place, label string, subst map[string]*Expr) Value {
	key := "named " + place + label
	name, ok := d.names[key]
	if !ok {
		d.taken["n"]++
		name = fmt.Sprintf("n_%d", d.taken["n"])
		d.names[key] = name
	}
	d.kinds[name] = "int"
	if isBool(dyn.expr, d.kinds) {
		d.kinds[name] = "bool"
	}
	subst[name] = dyn.expr
	d.comesFrom(name, dyn.expr)
	d.counted = true
	return Dyn{variable(name)}
}

// comesFrom notes that a variable is computed from others.
func (d *Driver) comesFrom(name string, e *Expr) {
	e.each(func(other string) {
		if m := d.origins[other]; m != nil {
			d.origins[name] = m
		}
	})
}
