package main

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"unicode/utf8"

	"golang.org/x/tools/go/ssa"
)

// mostOrders is up to how many entries every order of a range over a map is followed.
const mostOrders = 4

// updateMap puts an entry into a map.
func (d *Driver) updateMap(s *State, of, key, value Value, t types.Type, pos token.Pos) {
	p, ok := of.(Ptr)
	if !ok || s.heap[p.object] == nil || s.heap[p.object].kind != "map" {
		if containsConcurrency(s, value) {
			d.assume(pos, "either", aboutUnknownEntry)
		}
		if ok || aliasable(of) {
			d.havoc(s, t)
		}
		d.escape(s, value)
		return
	}
	name := p.object
	if s.escaped[name] {
		place := name + "/map"
		if !d.facts.shared[place] {
			d.facts.shared[place] = true
			d.changed = true
		}
		if !d.facts.abstract[place] && d.updateShared(s, name, key, value, pos) {
			return
		}
		d.escape(s, value)
		if !d.facts.abstract[place] {
			// The next run knows that the map is shared, and its keys.
			s.heap[name] = blurred(s.heap[name])
			return
		}
		if containsConcurrency(s, value) || mapHoldsConcurrency(s.heap[name].typ) {
			d.assume(pos, "either", aboutUnknownEntry)
		}
		d.blurMap(s, name)
		return
	}
	written, ok := mapKey(s, key)
	o := s.heap[name]
	if !ok || len(o.entries) > largest {
		if containsConcurrency(s, value) || mapHoldsConcurrency(o.typ) {
			d.assume(pos, "either", aboutUnknownEntry)
		}
		d.blurMap(s, name)
		return
	}
	if o.owner != s.owner || o.entries == nil || o.keys == nil {
		copied := *o
		copied.owner = s.owner
		copied.entries, copied.keys = map[string]Value{}, map[string]Value{}
		for k, v := range o.entries {
			copied.entries[k], copied.keys[k] = v, o.keys[k]
		}
		o = &copied
		s.heap[name] = o
	}
	o.entries[written], o.keys[written] = value, key
	o.memory = nil
}

// blurMap forgets what a map holds.
func (d *Driver) blurMap(s *State, name string) {
	o := s.heap[name]
	if o == nil || o.kind != "map" {
		return
	}
	if mapHoldsConcurrency(o.typ) && len(o.entries) > 0 {
		d.assume(o.from, "either", aboutUnknownEntry)
	}
	if s.escaped[name] {
		d.abstract(name + "/map")
	}
	s.heap[name] = blurred(o)
}

// blurred is a map of which no entry is known.
func blurred(o *Object) *Object {
	copied := *o
	copied.blurred, copied.entries, copied.keys = true, nil, nil
	return &copied
}

// clearMap empties a map.
func (d *Driver) clearMap(s *State, name string, pos token.Pos) {
	o := s.heap[name]
	if o == nil || o.kind != "map" {
		d.assume(pos, "either", aboutUnknownElement)
		return
	}
	if s.escaped[name] {
		// Entry by entry would not be one step for the others.
		if !d.facts.shared[name+"/map"] {
			d.facts.shared[name+"/map"] = true
			d.changed = true
		}
		d.blurMap(s, name)
		return
	}
	copied := *o
	copied.entries, copied.keys, copied.blurred = nil, nil, false
	s.heap[name] = &copied
}

func mapHoldsConcurrency(t types.Type) bool {
	if t == nil {
		return false
	}
	m, ok := t.Underlying().(*types.Map)
	return ok && mayHoldConcurrency(m.Elem(), 3)
}

func (d *Driver) lookup(s *State, i *ssa.Lookup) Value {
	x, key := d.value(s, i.X), d.value(s, i.Index)
	m, isMap := i.X.Type().Underlying().(*types.Map)
	if !isMap {
		return d.index(s, i, i.X, i.Index)
	}
	answer := func(v Value, found Value) Value {
		if i.CommaOk {
			return Tup{[]Value{v, found}}
		}
		return v
	}
	if isNil(x) {
		return answer(d.zeroOf(s, m.Elem(), i), KBool(false))
	}
	if p, ok := x.(Ptr); ok {
		o := s.heap[p.object]
		if o != nil && o.kind != "map" {
			o = nil
		}
		written, constant := mapKey(s, key)
		if o != nil && constant && !o.blurred && !d.isShared(s, p.object) {
			if v, ok := o.entries[written]; ok {
				return answer(d.copied(s, v, m.Elem(), i.Pos()), KBool(true))
			}
			return answer(d.zeroOf(s, m.Elem(), i), KBool(false))
		}
		if o != nil && !o.blurred && len(o.entries) == 0 && !d.isShared(s, p.object) {
			return answer(d.zeroOf(s, m.Elem(), i), KBool(false))
		}
	}
	if holdsConcurrency(m.Elem()) {
		d.assume(i.Pos(), "either", aboutUnknownEntry)
	}
	return d.unknownFrom(s, here(s.top()), i, i.Type(), fromOutside(text(x)))
}

// zeroOf is the zero of a type at an instruction; locks in it are new.
func (d *Driver) zeroOf(s *State, t types.Type, i ssa.Value) Value {
	if !holdsLock(t, deepestNesting) {
		return zeroPlain(t)
	}
	return d.zero(s, t, baseName(t), i.Pos(), 0)
}

func (d *Driver) deletes(s *State, of, key Value, t types.Type, pos token.Pos) {
	p, ok := of.(Ptr)
	if !ok || s.heap[p.object] == nil || s.heap[p.object].kind != "map" {
		if ok || aliasable(of) {
			d.havoc(s, t)
		}
		return
	}
	name := p.object
	if s.escaped[name] && !d.facts.shared[name+"/map"] {
		d.facts.shared[name+"/map"] = true
		d.changed = true
	}
	if d.isShared(s, name) {
		if !d.facts.abstract[name+"/map"] && d.updateShared(s, name, key, nil, token.NoPos) {
			return
		}
		if !d.facts.abstract[name+"/map"] {
			s.heap[name] = blurred(s.heap[name])
			return
		}
		d.blurMap(s, name)
		return
	}
	written, ok := mapKey(s, key)
	if !ok {
		d.blurMap(s, name)
		return
	}
	o := s.heap[name]
	copied := *o
	copied.entries, copied.keys = map[string]Value{}, map[string]Value{}
	for k, v := range o.entries {
		if k != written {
			copied.entries[k], copied.keys[k] = v, o.keys[k]
		}
	}
	s.heap[name] = &copied
}

// next is a round of a range over a map or string. It tells whether the code being written has come
// to an end.
func (d *Driver) next(s *State, i *ssa.Next) bool {
	f := s.top()
	iter, ok := d.value(s, i.Iter).(Iter)
	if !ok {
		f.regs[i] = d.someRound(s, i)
		return false
	}
	switch of := iter.of.(type) {
	case KNil:
		f.regs[i] = Tup{[]Value{KBool(false), KNil{}, KNil{}}}
		return false
	case KStr:
		if iter.next >= len(of) {
			f.regs[i] = Tup{[]Value{KBool(false), KInt(0), KInt(0)}}
			return false
		}
		r, size := utf8.DecodeRuneInString(string(of[iter.next:]))
		f.regs[i.Iter] = Iter{of: of, next: iter.next + size}
		f.regs[i] = Tup{[]Value{KBool(true), KInt(int64(iter.next)), KInt(int64(r))}}
		return false
	case Ptr:
		o := s.heap[of.object]
		if o != nil && o.kind == "map" && !o.blurred && !d.isShared(s, of.object) {
			return d.nextEntry(s, i, iter, of.object)
		}
	}
	f.regs[i] = d.someRound(s, i)
	return false
}

// someRound is a round of a range of which nothing is known.
func (d *Driver) someRound(s *State, i *ssa.Next) Value {
	f := s.top()
	t := i.Type().(*types.Tuple)
	if mayHoldConcurrency(t.At(1).Type(), 3) || mayHoldConcurrency(t.At(2).Type(), 3) {
		d.assume(i.Pos(), "either", aboutUnknownEntry)
	}
	return Tup{[]Value{
		d.unknown(s, here(f)+"ok", i, nil),
		d.unknown(s, here(f)+"key", i, t.At(1).Type()),
		d.unknown(s, here(f)+"value", i, t.At(2).Type()),
	}}
}

// nextEntry takes an entry that has not been visited: any of them, for the order is Go's to choose.
// One that was added after the range began may be visited or not.
func (d *Driver) nextEntry(s *State, i *ssa.Next, iter Iter, name string) bool {
	o := s.heap[name]
	var old, added []string
	for _, key := range sortedKeys(o.entries) {
		switch {
		case slices.Contains(iter.visited, key):
		case slices.Contains(iter.first, key):
			old = append(old, key)
		default:
			added = append(added, key)
		}
	}
	take := func(t *State, key string) {
		f := t.top()
		visited := append(append([]string(nil), iter.visited...), key)
		slices.Sort(visited)
		f.regs[i.Iter] = Iter{of: iter.of, visited: visited, first: iter.first}
		element := o.typ.Underlying().(*types.Map).Elem()
		f.regs[i] = Tup{[]Value{KBool(true), o.keys[key], d.copied(t, o.entries[key], element, i.Pos())}}
	}
	stop := func(t *State) { t.top().regs[i] = Tup{[]Value{KBool(false), KNil{}, KNil{}}} }
	switch {
	case len(old)+len(added) == 0:
		stop(s)
		return false
	case len(old) == 1 && len(added) == 0:
		take(s, old[0])
		return false
	case len(added) == 0 && !usesEntries(i):
		take(s, old[0])
		return false
	}
	if t := i.Type().(*types.Tuple); len(old)+len(added) > mostOrders && len(added) == 0 && plain(t.At(1).Type(), 4) && plain(t.At(2).Type(), 4) {
		// Which entry it is makes no difference to goroutines but by data.
		take(s, old[0])
		f := s.top()
		f.regs[i] = Tup{[]Value{KBool(true), d.unknown(s, here(f)+"key", i, t.At(1).Type()), d.unknown(s, here(f)+"value", i, t.At(2).Type())}}
		return false
	}
	if len(old)+len(added) > mostOrders {
		d.assume(i.Pos(), "under", aboutMapOrder)
		take(s, append(old, added...)[0])
		return false
	}
	var arms []*Code
	for _, key := range append(old, added...) {
		arms = append(arms, d.fork(s, func(t *State) { take(t, key) }))
	}
	if len(old) == 0 {
		arms = append(arms, d.fork(s, stop))
	}
	d.put(&Code{op: opChoose, pos: nearPos(i), arms: arms})
	return true
}

// usesEntries tells whether a range looks at keys or values.
func usesEntries(i *ssa.Next) bool {
	for _, ref := range *i.Referrers() {
		if extract, ok := ref.(*ssa.Extract); ok && extract.Index > 0 && len(*extract.Referrers()) > 0 {
			return true
		}
	}
	return false
}

// ranges begins a range over a map or string.
func (d *Driver) ranges(s *State, of Value) Value {
	iter := Iter{of: of}
	if p, ok := of.(Ptr); ok {
		if o := s.heap[p.object]; o != nil && o.kind == "map" {
			iter.first = sortedKeys(o.entries)
		}
	}
	return iter
}

func (i Iter) position() string { return fmt.Sprint(i.next, i.visited, i.first) }
