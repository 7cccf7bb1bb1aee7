package main

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// largest is how many elements of an array or slice are followed one by one.
const largest = 128

func (d *Driver) index(s *State, i ssa.Value, of, index ssa.Value) Value {
	x := d.value(s, of)
	if n, ok := d.value(s, index).(KInt); ok {
		if part, ok := at(x, sub("", int(n))); ok && n >= 0 {
			return part
		}
	}
	return d.unknown(s, here(s.top()), i, i.Type())
}

func (d *Driver) indexAddress(s *State, i *ssa.IndexAddr) Value {
	x := d.value(s, i.X)
	n, known := d.value(s, i.Index).(KInt)
	element := i.Type().(*types.Pointer).Elem()
	switch v := x.(type) {
	case Ptr:
		if known && n >= 0 {
			return Ptr{v.object, sub(v.path, int(n))}
		}
		return d.someElement(s, v.object, v.path, 0, -1, element, i)
	case Slc:
		if known && n >= 0 && int(n) < v.n {
			return Ptr{v.object, sub(v.path, v.low+int(n))}
		}
		if !known {
			return d.someElement(s, v.object, v.path, v.low, v.n, element, i)
		}
	}
	if holdsConcurrency(element) {
		d.assume(i.Pos(), "either", "an element of a slice that is not known: operations on it are left out")
	}
	return d.unknown(s, here(s.top()), i, i.Type())
}

// someElement is the address of an element whose index is not known: any of them, if they hold
// channels or locks; what other elements hold is not known afterwards.
func (d *Driver) someElement(s *State, object, path string, low, n int, element types.Type, i *ssa.IndexAddr) Value {
	o := s.heap[object]
	if o != nil && o.kind == "memory" && mayHoldConcurrency(element, 3) {
		if agg, ok := partOf(o.value, path).(Agg); ok {
			if n < 0 {
				n = len(agg.elems)
			}
			if n == 1 {
				return Ptr{object, sub(path, low)}
			}
			if n > 1 && n <= 8 && low+n <= len(agg.elems) {
				return Model{"oneof", []Value{Slc{object, path, low, n, n}}}
			}
		}
		d.assume(i.Pos(), "either", "the index is not known: operations on this element are left out")
	}
	return d.unknown(s, here(s.top()), i, i.Type())
}

func partOf(v Value, path string) Value {
	part, _ := at(v, path)
	return part
}

func (d *Driver) makeSlice(s *State, i *ssa.MakeSlice) Value {
	n, ok1 := d.value(s, i.Len).(KInt)
	max, ok2 := d.value(s, i.Cap).(KInt)
	element := i.Type().Underlying().(*types.Slice).Elem()
	if !ok1 || n > largest || n < 0 {
		if holdsConcurrency(element) {
			d.assume(i.Pos(), "either", "a slice whose length is not known: what it holds is not followed")
		}
		return d.unknown(s, here(s.top()), i, i.Type())
	}
	if !ok2 || max > largest || max < n {
		max = n
	}
	array := types.NewArray(element, int64(max))
	key := here(s.top()) + fmt.Sprintf("%p", i)
	p := d.newObject(s, d.world.nameAt(i), key, array, i.Pos()).(Ptr)
	return Slc{p.object, "", 0, int(n), int(max)}
}

func (d *Driver) slice(s *State, i *ssa.Slice) Value {
	x := d.value(s, i.X)
	bound := func(v ssa.Value, otherwise int) (int, bool) {
		if v == nil {
			return otherwise, true
		}
		n, ok := d.value(s, v).(KInt)
		return int(n), ok
	}
	switch v := x.(type) {
	case Ptr:
		pointer, ok := i.X.Type().Underlying().(*types.Pointer)
		if !ok {
			break
		}
		array, ok := pointer.Elem().Underlying().(*types.Array)
		if !ok || array.Len() > largest {
			break
		}
		low, ok1 := bound(i.Low, 0)
		high, ok2 := bound(i.High, int(array.Len()))
		if ok1 && ok2 && low >= 0 && low <= high && high <= int(array.Len()) {
			return Slc{v.object, v.path, low, high - low, int(array.Len()) - low}
		}
	case Slc:
		low, ok1 := bound(i.Low, 0)
		high, ok2 := bound(i.High, v.n)
		if ok1 && ok2 && low >= 0 && low <= high && high <= v.max {
			return Slc{v.object, v.path, v.low + low, high - low, v.max - low}
		}
	case KNil:
		return v
	case KStr:
		low, ok1 := bound(i.Low, 0)
		high, ok2 := bound(i.High, len(v))
		if ok1 && ok2 && low >= 0 && low <= high && high <= len(v) {
			return v[low:high]
		}
	}
	return d.unknown(s, here(s.top()), i, i.Type())
}

// appends is the builtin append.
func (d *Driver) appends(s *State, site ssa.Value, args []Value) Value {
	key := here(s.top()) + fmt.Sprintf("%p", site)
	t, isSlice := site.Type().Underlying().(*types.Slice)
	var old []Value
	known := isSlice
	switch v := args[0].(type) {
	case KNil:
	case Slc:
		old = d.elements(s, v)
		known = known && old != nil
	default:
		known = false
	}
	var more []Value
	if len(args) > 1 {
		switch v := args[1].(type) {
		case KNil:
		case Slc:
			more = d.elements(s, v)
			known = known && more != nil
		default:
			known = false
		}
	}
	if !known || len(old)+len(more) > largest {
		if isSlice && holdsConcurrency(t.Elem()) {
			d.assume(site.Pos(), "either", "a slice that grows without a known bound: what it holds is not followed")
		}
		return d.unknown(s, here(s.top()), site, site.Type())
	}
	elems := append(append([]Value(nil), old...), more...)
	for i, e := range elems {
		elems[i] = d.readCells(s, e, t.Elem(), fmt.Sprintf("%s.%d", key, i), site.Pos())
	}
	name := d.fresh(s, "slice", key)
	array := types.NewArray(t.Elem(), int64(len(elems)))
	s.heap[name] = &Object{kind: "memory", typ: array, value: Agg{elems}, multi: d.repeats(s)}
	return Slc{name, "", 0, len(elems), len(elems)}
}

// elements lists what a slice holds, if that is known.
func (d *Driver) elements(s *State, v Slc) []Value {
	o := s.heap[v.object]
	if o == nil {
		return nil
	}
	agg, ok := partOf(o.value, v.path).(Agg)
	if !ok || v.low+v.n > len(agg.elems) {
		return nil
	}
	return append([]Value{}, agg.elems[v.low:v.low+v.n]...)
}

func (d *Driver) mapUpdate(s *State, of, key, value Value, pos token.Pos) {
	p, ok := of.(Ptr)
	if !ok || s.heap[p.object] == nil {
		if containsConcurrency(s, value) {
			d.assume(pos, "either", "a channel or lock is put into a map that is not followed")
		}
		return
	}
	copied := *s.heap[p.object]
	if s.escaped[p.object] {
		place := p.object + "/map"
		if !d.facts.shared[place] {
			d.facts.shared[place] = true
			d.changed = true
		}
		if !d.facts.abstract[place] && d.updateShared(s, p.object, key, value, pos) {
			return
		}
		d.escape(s, value)
		copied = *s.heap[p.object]
	}
	if _, ok := mapKey(s, key); !ok || len(copied.entries) > 32 || s.escaped[p.object] && d.facts.shared[p.object+"/map"] {
		if containsConcurrency(s, value) || mapHoldsConcurrency(copied.typ) {
			d.assume(pos, "either", "an entry of a map whose key is not known, or that goroutines share, is not followed")
		}
		copied.blurred = true
		s.heap[p.object] = &copied
		return
	}
	entries := map[string]Value{}
	keys := map[string]Value{}
	for k, v := range copied.entries {
		entries[k], keys[k] = v, copied.keys[k]
	}
	written, _ := mapKey(s, key)
	entries[written], keys[written] = value, key
	copied.entries, copied.keys = entries, keys
	s.heap[p.object] = &copied
}

func mapHoldsConcurrency(t types.Type) bool {
	if t == nil {
		return false
	}
	m, ok := t.Underlying().(*types.Map)
	return ok && holdsConcurrency(m.Elem())
}

func (d *Driver) lookup(s *State, i *ssa.Lookup) Value {
	x, key := d.value(s, i.X), d.value(s, i.Index)
	m, isMap := i.X.Type().Underlying().(*types.Map)
	if !isMap {
		if str, ok := x.(KStr); ok {
			if n, ok := key.(KInt); ok && n >= 0 && int(n) < len(str) {
				return KInt(str[n])
			}
		}
		return d.unknown(s, here(s.top()), i, i.Type())
	}
	answer := func(v Value, found Value) Value {
		if i.CommaOk {
			return Tup{[]Value{v, found}}
		}
		return v
	}
	if isNil(x) {
		return answer(zeroPlain(m.Elem()), KBool(false))
	}
	if p, ok := x.(Ptr); ok {
		o := s.heap[p.object]
		written, constant := mapKey(s, key)
		if o != nil && constant && !d.isShared(s, p.object) {
			if v, ok := o.entries[written]; ok {
				return answer(v, KBool(true))
			}
			if !o.blurred {
				return answer(zeroPlain(m.Elem()), KBool(false))
			}
		}
	}
	if holdsConcurrency(m.Elem()) {
		d.assume(i.Pos(), "either", "an entry of a map that is not known: operations on it are left out")
	}
	return d.unknown(s, here(s.top()), i, i.Type())
}

func (d *Driver) deletes(s *State, of, key Value) {
	p, ok := of.(Ptr)
	if !ok || s.heap[p.object] == nil {
		return
	}
	copied := *s.heap[p.object]
	if s.escaped[p.object] && !d.facts.shared[p.object+"/map"] {
		d.facts.shared[p.object+"/map"] = true
		d.changed = true
	}
	if d.isShared(s, p.object) && !d.facts.abstract[p.object+"/map"] && d.updateShared(s, p.object, key, nil, token.NoPos) {
		return
	}
	written, ok := mapKey(s, key)
	if !ok {
		copied.blurred = true
	} else {
		entries := map[string]Value{}
		for k, v := range copied.entries {
			if k != written {
				entries[k] = v
			}
		}
		copied.entries = entries
	}
	s.heap[p.object] = &copied
}

// next is a round of a range over a map or string.
func (d *Driver) next(s *State, i *ssa.Next) Value {
	f := s.top()
	iter, ok := d.value(s, i.Iter).(Iter)
	unknown := func() Value {
		t := i.Type().(*types.Tuple)
		return Tup{[]Value{
			d.unknown(s, here(f)+"ok", i, nil),
			d.unknown(s, here(f)+"key", i, t.At(1).Type()),
			d.unknown(s, here(f)+"value", i, t.At(2).Type()),
		}}
	}
	if !ok {
		return unknown()
	}
	switch of := iter.of.(type) {
	case KNil:
		return Tup{[]Value{KBool(false), KNil{}, KNil{}}}
	case KStr:
		if iter.next >= len(of) {
			return Tup{[]Value{KBool(false), KInt(0), KInt(0)}}
		}
		f.regs[i.Iter] = Iter{of, iter.next + 1}
		return Tup{[]Value{KBool(true), KInt(int64(iter.next)), KInt(int64(of[iter.next]))}}
	case Ptr:
		o := s.heap[of.object]
		if o == nil || o.kind != "map" || o.blurred || s.escaped[of.object] && d.facts.shared[of.object+"/map"] {
			return unknown()
		}
		// The order is Go's to choose; entries are taken in one order.
		keys := sortedKeys(o.entries)
		if len(keys) > 1 && mapHoldsConcurrency(o.typ) {
			d.assume(i.Pos(), "under", "a range over a map is followed in one order only")
		}
		if iter.next >= len(keys) {
			return Tup{[]Value{KBool(false), KNil{}, KNil{}}}
		}
		f.regs[i.Iter] = Iter{of, iter.next + 1}
		k := keys[iter.next]
		return Tup{[]Value{KBool(true), o.keys[k], o.entries[k]}}
	}
	return unknown()
}
