package main

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A map that goroutines share and change is followed entry by entry as long as its keys are known:
// an entry is a one-place channel of the program, empty when the map has no such entry, and one
// more channel keeps other goroutines out while one goroutine looks.

// mapKey is the text of a key that is the same wherever it is used.
func mapKey(s *State, key Value) (string, bool) {
	if x, ok := key.(KFloat); ok {
		x, ok = floatKey(x)
		return text(x), ok
	}
	if isConstant(key) {
		return text(key), true
	}
	switch v := key.(type) {
	case Ptr:
		if !s.multiple(v.object) {
			return text(v), true
		}
	case Ref:
		if o := s.heap[v.object]; o != nil && !o.multi && o.kind == "chan" {
			return text(v), true
		}
	case Ifc:
		if inner, ok := mapKey(s, v.v); ok && v.typ != nil {
			return "i<" + typeName(v.typ) + ">" + inner, true
		}
	case Agg:
		all := "{"
		for _, e := range v.elems {
			inner, ok := mapKey(s, e)
			if !ok {
				return "", false
			}
			all += inner + ","
		}
		return all + "}", true
	}
	return "", false
}

// isShared tells whether a map is one that goroutines share and change.
func (d *Driver) isShared(s *State, name string) bool {
	return s.escaped[name] && d.facts.shared[name+"/map"]
}

// noteKey remembers that a shared map may have an entry.
func (d *Driver) noteKey(name, key string, value Value) {
	keys := d.facts.mapKeys[name]
	if keys == nil {
		keys = map[string]Value{}
		d.facts.mapKeys[name] = keys
	}
	if _, known := keys[key]; !known {
		if len(keys) >= 8 {
			d.abstract(name + "/map")
			return
		}
		keys[key] = value
		d.changed = true
	}
}

// shareMap makes the entries of a map cells, when it begins to be shared.
func (d *Driver) shareMap(s *State, name string) {
	o := s.heap[name]
	if !d.facts.shared[name+"/map"] || d.facts.abstract[name+"/map"] || o.blurred || o.guard != "" {
		return
	}
	for key := range o.entries {
		d.noteKey(name, key, o.keys[key])
	}
	if d.facts.abstract[name+"/map"] {
		return
	}
	copied := *o
	element := o.typ.Underlying().(*types.Map).Elem()
	copied.guard = d.newCell(s, "guard_"+name, "guard "+name, nil)
	d.put(&Code{op: opCellNew, name: copied.guard, expr: &Expr{op: "unit"}})
	copied.cells = map[string]string{}
	for _, key := range sortedKeys(d.facts.mapKeys[name]) {
		place := name + "/map/" + key
		cell := d.newCell(s, "entry_"+name, place, element)
		copied.cells[key] = cell
		d.put(&Code{op: opEntryNew, name: cell})
		if v, present := o.entries[key]; present {
			d.escape(s, v)
			messages := d.messages(place)
			messages.join(d, s, v, element)
			if expr, ok := messages.encode(d, s, v); ok {
				d.put(&Code{op: opEntryFill, on: variable(cell), expr: expr})
			}
		}
	}
	// The keys stay: what they point to can be had from the map.
	copied.entries, copied.keys = nil, map[string]Value{}
	for key, value := range d.facts.mapKeys[name] {
		copied.keys[key] = value
		d.escape(s, value)
	}
	s.heap[name] = &copied
}

func (d *Driver) newCell(s *State, hint, place string, t types.Type) string {
	cell := d.fresh(s, hint, "cell "+place)
	s.heap[cell] = &Object{kind: "cell", key: place, typ: t, multi: true}
	s.escaped[cell] = true
	d.kinds[cell], d.keys[cell] = "chan", place
	return cell
}

// updateShared writes or deletes an entry of a shared map. It tells whether it could.
func (d *Driver) updateShared(s *State, name string, key Value, value Value, pos token.Pos) bool {
	o := s.heap[name]
	written, ok := mapKey(s, key)
	if !ok {
		d.abstract(name + "/map")
		return false
	}
	if value != nil {
		d.noteKey(name, written, key)
	}
	cell := o.cells[written]
	if cell == "" {
		// The next run knows the key; nothing can be deleted that was never there.
		return o.guard != "" || value == nil
	}
	held := s.holding == name
	if value == nil {
		d.put(&Code{op: opEntryDelete, on: variable(cell), test: variable(o.guard), pos: pos, held: held})
		return true
	}
	d.escape(s, value)
	messages := d.messages(s.heap[cell].key)
	messages.join(d, s, value, s.heap[cell].typ)
	expr, ok := messages.encode(d, s, value)
	if !ok {
		d.blur(messages)
		expr = &Expr{op: "unit"}
	}
	d.put(&Code{op: opEntryPut, on: variable(cell), test: variable(o.guard), expr: expr, pos: pos, held: held})
	return true
}

// lookShared looks for an entry of a shared map; both outcomes are arms.
func (d *Driver) lookShared(s *State, name, key string, at ssa.Value, present func(*State, Value), absent func(*State)) bool {
	if s.heap[name].cells[key] == "" {
		absent(s)
		return false
	}
	return d.lookSharedWith(s, name, key, at, present, absent, false)
}

// lookSharedHolding does the same, and what is done with the entry is one step with it.
func (d *Driver) lookSharedHolding(s *State, name, key string, at ssa.Value, present func(*State, Value), absent func(*State)) bool {
	if s.heap[name].cells[key] == "" {
		// The next run knows the key.
		absent(s)
		return false
	}
	return d.lookSharedWith(s, name, key, at, present, absent, true)
}

// lookSharedWith looks for an entry; the map is kept for itself while something is done with it if
// that is wanted.
func (d *Driver) lookSharedWith(s *State, name, key string, at ssa.Value, present func(*State, Value), absent func(*State), hold bool) bool {
	o := s.heap[name]
	cell := o.cells[key]
	element := s.heap[cell].typ
	place := here(s.top()) + fmt.Sprintf("%p.%s", at, key)
	release := func() { d.put(&Code{op: opEntryFill, on: variable(o.guard), expr: &Expr{op: "unit"}}) }
	within := func(t *State, do func()) {
		if !hold {
			release()
			do()
			return
		}
		t.holding = name
		do()
		t.holding = ""
		release()
	}
	found := &Code{op: opGet, on: variable(cell)}
	if d.messages(s.heap[cell].key).shape == nil {
		// No goroutine is known to store this entry: the map does not have it. Should a later run
		// learn otherwise, it follows this way as well.
		d.put(&Code{op: opGet, on: variable(o.guard)})
		within(s, func() { absent(s) })
		return false
	}
	found.next = d.fork(s, func(t *State) {
		variableName := d.scalarName(t, "x", place)
		v := d.messages(t.heap[cell].key).decode(d, t, variableName, place, element)
		found.name = variableName
		d.kinds[variableName] = d.kindOfMessages(t.heap[cell].key)
		d.put(&Code{op: opEntryFill, on: variable(cell), expr: variable(variableName)})
		within(t, func() { present(t, v) })
	})
	missing := &Code{op: opDefault}
	missing.next = d.fork(s, func(t *State) { within(t, func() { absent(t) }) })
	d.put(&Code{op: opGet, on: variable(o.guard)})
	d.put(&Code{op: opSelect, arms: []*Code{found, missing}})
	return true
}

// kindOfMessages is the kind of variable that holds what messages carry.
func (d *Driver) kindOfMessages(key string) string {
	if hole, ok := d.messages(key).hole(); ok {
		if hole.kind == "chan" {
			return "chan"
		}
		return hole.kind
	}
	return "unit"
}

// sharedMap tells whether an instruction looks into a shared map that is followed.
func (d *Driver) sharedMap(s *State, of Value) (string, bool) {
	p, ok := of.(Ptr)
	if !ok || s.heap[p.object] == nil || s.heap[p.object].kind != "map" {
		return "", false
	}
	return p.object, s.heap[p.object].guard != "" && !d.facts.abstract[p.object+"/map"]
}

// sharedLookup performs a lookup in a shared map.
func (d *Driver) sharedLookup(s *State, i *ssa.Lookup, name string) (bool, bool) {
	key, ok := mapKey(s, d.value(s, i.Index))
	if !ok {
		return false, false
	}
	element := i.X.Type().Underlying().(*types.Map).Elem()
	set := func(t *State, v Value, found bool) {
		if i.CommaOk {
			v = Tup{[]Value{v, KBool(found)}}
		}
		t.top().regs[i] = v
	}
	end := d.lookShared(s, name, key, i,
		func(t *State, v Value) { set(t, v, true) },
		func(t *State) { set(t, zeroPlain(element), false) })
	return true, end
}

// sharedNext performs a round of a range over a shared map.
func (d *Driver) sharedNext(s *State, i *ssa.Next, name string, iter Iter) bool {
	keys := sortedKeys(s.heap[name].cells)
	if iter.next >= len(keys) {
		s.top().regs[i] = Tup{[]Value{KBool(false), KNil{}, KNil{}}}
		return false
	}
	if len(keys) > 1 {
		d.assume(i.Pos(), "under", aboutMapOrder)
	}
	key := keys[iter.next]
	following := Iter{of: iter.of, next: iter.next + 1}
	return d.lookShared(s, name, key, i,
		func(t *State, v Value) {
			t.top().regs[i.Iter] = following
			t.top().regs[i] = Tup{[]Value{KBool(true), d.facts.mapKeys[name][key], v}}
		},
		func(t *State) {
			// Not there: on to the next key.
			t.top().regs[i.Iter] = following
			t.top().pc--
		})
}

// mostCounted is up to how many entries the length of a shared map is counted.
const mostCounted = 4

// sharedLength is len of a shared map with few entries: they are looked for one after the other, which
// is one step for all who keep a lock meanwhile.
func (d *Driver) sharedLength(s *State, site *ssa.Call, name string) (bool, bool) {
	keys := sortedKeys(s.heap[name].cells)
	if len(keys) > mostCounted {
		return false, false
	}
	return true, d.countShared(s, site, name, keys, 0)
}

// countShared adds the entries that are there to those that were found before.
func (d *Driver) countShared(s *State, site *ssa.Call, name string, keys []string, found int64) bool {
	if len(keys) == 0 {
		s.top().regs[site] = KInt(found)
		return false
	}
	following := func(t *State, found int64) {
		if d.countShared(t, site, name, keys[1:], found) {
			t.frames = t.frames[:0]
		}
	}
	return d.lookShared(s, name, keys[0], site,
		func(t *State, _ Value) { following(t, found+1) },
		func(t *State) { following(t, found) })
}
