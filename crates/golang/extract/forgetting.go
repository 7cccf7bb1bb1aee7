package main

import (
	"go/token"
	"go/types"
	"slices"
)

// disturbObject forgets what an object holds.
func (d *Driver) disturbObject(s *State, name string) {
	d.forgetIn(s, name, func(Part) choice { return forgetsAll })
}

// choice is what becomes of a part of memory when some of it is forgotten.
type choice int

const (
	forgetsNone choice = iota
	forgetsInside
	forgetsAll
)

// Part is a part of memory: what it holds, its type, and the field that it is, if it is one.
type Part struct {
	value Value
	typ   types.Type
	field *types.Var
}

// forgetIn makes those parts of an object unknown that are chosen; locks and channels that it holds
// stay what they are.
func (d *Driver) forgetIn(s *State, name string, choose func(Part) choice) {
	o := s.heap[name]
	if o == nil {
		return
	}
	if o.kind == "map" {
		if choose(Part{typ: o.typ}) == forgetsAll {
			d.blurMap(s, name)
		}
		return
	}
	if isBuffer(o) {
		// A large buffer is forgotten as a whole.
		if choose(Part{typ: byteType}) != forgetsNone {
			copied := *o
			copied.value = Sym{"«?»"}
			s.heap[name] = &copied
		}
		return
	}
	if o.kind == "memory" && o.value != nil {
		d.forgetPart(s, name, "", o.value, o.typ, choose)
	}
}

func (d *Driver) forgetPart(s *State, object, path string, v Value, t types.Type, choose func(Part) choice) {
	now, changed := d.forgotten(s, object, path, Part{v, t, nil}, choose)
	if !changed {
		return
	}
	o := s.heap[object]
	if value, ok := with(o.value, path, now); ok {
		copied := *o
		copied.value = value
		s.heap[object] = &copied
	}
}

// forgotten is a part of memory in which the chosen parts are not known any more. Cells are written;
// everything else is left to the caller.
func (d *Driver) forgotten(s *State, object, path string, part Part, choose func(Part) choice) (Value, bool) {
	v, t := part.value, part.typ
	if choose != nil {
		switch choose(part) {
		case forgetsNone:
			return v, false
		case forgetsAll:
			choose = nil
		}
	}
	switch before := v.(type) {
	case Agg:
		var elems []Value
		d.steps += len(before.elems) / 16
		for i, e := range before.elems {
			if now, changed := d.forgotten(s, object, sub(path, i), Part{e, partType(t, i), fieldOf(t, i)}, choose); changed {
				if elems == nil {
					elems = append([]Value(nil), before.elems...)
				}
				elems[i] = now
			}
		}
		return Agg{elems}, elems != nil
	case Any:
		return v, false
	case Ref:
		if o := s.heap[before.object]; isLock(s, v) || o != nil && o.kind != "cell" {
			return v, false
		} else if o != nil && choose == nil {
			d.storeAt(s, object, path, v, d.unknownOf("«?»", t, 0), token.NoPos)
			return v, false
		}
	case Sym:
		if before.id == "«?»" && !s.escaped[object] {
			return v, false
		}
	}
	if choose != nil {
		return v, false
	}
	now := d.unknownOf("«?»", t, 0)
	d.tear(s, object, path)
	if s.escaped[object] && !equal(v, now) {
		d.note(s, object, path, nil, true)
	}
	return now, true
}

// weaken makes a part of memory unknown; locks and channels that it holds stay what they are.
func (d *Driver) weaken(s *State, object, path string, v Value, t types.Type) {
	d.forgetPart(s, object, path, v, t, nil)
}

// havoc forgets what memory of a type holds: something was written through a pointer that is not
// known.
func (d *Driver) havoc(s *State, t types.Type) {
	d.typeStrays(t)
	d.havocHere(s, t)
}

// havocHere does so in one goroutine.
func (d *Driver) havocHere(s *State, t types.Type) {
	d.steps += len(s.heap) / 16
	choose := func(part Part) choice {
		if part.typ == nil {
			return forgetsNone
		}
		if types.Identical(part.typ, t) {
			return forgetsAll
		}
		switch part.typ.Underlying().(type) {
		case *types.Struct, *types.Array:
			return forgetsInside
		}
		return forgetsNone
	}
	var held []string
	for name, o := range s.heap {
		switch o.kind {
		case "map", "memory":
			if t != nil && o.typ != nil && d.world.mayHold(o.typ, t) {
				held = append(held, name)
			}
		}
	}
	slices.Sort(held)
	for _, name := range held {
		o := s.heap[name]
		switch {
		case o.kind == "map" && types.Identical(o.typ.Underlying(), t.Underlying()):
			d.blurMap(s, name)
		case o.kind == "memory" && o.value != nil:
			d.forgetPart(s, name, "", o.value, o.typ, choose)
		}
	}
}

// mayHold tells whether memory of a type is, or has inside it, memory of another one.
func (w *World) mayHold(t, inner types.Type) bool {
	key := [2]types.Type{t, inner}
	answer, known := w.holding[key]
	if !known {
		answer = holdsType(t, inner, 12)
		w.holding[key] = answer
	}
	return answer
}

// havocBehind forgets what values of a type may point to.
func (d *Driver) havocBehind(s *State, t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		d.havoc(s, u.Elem())
	case *types.Slice:
		d.havoc(s, u.Elem())
	case *types.Map:
		d.havoc(s, t)
	}
}

// disturb forgets data that a function which is not read may have changed through its pointers:
// everything but fields that only their own package can name.
func (d *Driver) disturb(s *State, args []Value) {
	var behind []types.Type
	choose := func(part Part) choice {
		if part.field != nil && !part.field.Exported() && !part.field.Embedded() {
			return forgetsNone
		}
		if _, ok := part.value.(Agg); ok {
			return forgetsInside
		}
		if part.typ != nil && aliasable(part.value) {
			behind = append(behind, part.typ)
		}
		return forgetsAll
	}
	defer func() {
		for _, t := range behind {
			d.havocBehind(s, t)
		}
	}()
	// What can be reached is listed before anything is forgotten: what is forgotten leads nowhere.
	names := d.reachable(s, args)
	var inside []Ptr // parts that a pointer or slice leads to, whether or not they have names
	for _, arg := range args {
		eachPlace(arg, func(place Ptr) { inside = append(inside, place) })
	}
	for _, name := range names {
		if o := s.heap[name]; o.kind == "memory" && o.value != nil {
			eachPlace(o.value, func(place Ptr) { inside = append(inside, place) })
		}
	}
	for _, name := range names {
		d.forgetIn(s, name, choose)
	}
	for _, place := range inside {
		o := s.heap[place.object]
		if o == nil || o.kind != "memory" || o.value == nil || isBuffer(o) {
			continue
		}
		if part, ok := at(o.value, place.path); ok {
			d.forgetPart(s, place.object, place.path, part, partTypeAt(o.typ, place.path), choose)
		}
	}
}

// eachPlace visits the parts of objects that a value points into.
func eachPlace(v Value, visit func(Ptr)) {
	switch v := v.(type) {
	case Ptr:
		if v.path != "" {
			visit(v)
		}
	case Slc:
		if v.path != "" {
			visit(Ptr{v.object, v.path})
		}
	case Ifc:
		eachPlace(v.v, visit)
	case Agg:
		for _, elem := range v.elems {
			eachPlace(elem, visit)
		}
	case Tup:
		for _, elem := range v.elems {
			eachPlace(elem, visit)
		}
	}
}

// forgetAll forgets all data that can be reached from values: a function may have changed it.
func (d *Driver) forgetAll(s *State, values []Value) {
	for _, name := range d.reachable(s, values) {
		d.disturbObject(s, name)
	}
}

// forgetPlain forgets the plain data that can be reached from values: a function that only computes
// plain data was not followed.
func (d *Driver) forgetPlain(s *State, values []Value) {
	var behind []types.Type
	choose := func(part Part) choice {
		if _, ok := part.value.(Agg); ok {
			return forgetsInside
		}
		t := part.typ
		if t == nil {
			return forgetsNone
		}
		if m, ok := t.Underlying().(*types.Map); ok && part.value == nil {
			t = m.Elem()
		}
		if !plain(t, 4) {
			return forgetsNone
		}
		if aliasable(part.value) {
			// It may point to memory that is known by another name.
			behind = append(behind, t)
		}
		return forgetsAll
	}
	for _, name := range d.reachable(s, values) {
		d.forgetIn(s, name, choose)
	}
	for _, t := range behind {
		d.havocBehind(s, t)
	}
}

// reachable lists the objects that can be reached from values.
func (d *Driver) reachable(s *State, values []Value) []string {
	seen := map[string]bool{}
	var names []string
	for _, v := range values {
		s.reach(v, seen, func(name string) { names = append(names, name) })
	}
	return names
}
