package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A sync.Map is a map that goroutines share; a sync.Pool hands out what was put into it, or what its
// New returns.

// anyMap is the type of the map inside a sync.Map.
func anyMap() types.Type {
	empty := types.NewInterfaceType(nil, nil)
	return types.NewMap(empty, empty)
}

// newSyncMap is the zero of sync.Map.
func (d *Driver) newSyncMap(s *State, hint string) Value {
	name := d.fresh(s, "map_"+hint, "syncmap "+hint)
	s.heap[name] = &Object{kind: "map", typ: anyMap(), multi: d.repeats(s)}
	return Agg{[]Value{Ptr{name, ""}}}
}

// syncMapModels: the methods of sync.Map, each in one step.
func (d *Driver) syncMapModels(m *modelled) (bool, bool) {
	op, ok := strings.CutPrefix(m.name, "(*sync.Map).")
	if !ok {
		return false, false
	}
	d.operation(m.pos)
	p, ok := m.arg(0).(Ptr)
	var inner Ptr
	if ok && m.s.heap[p.object] != nil {
		inner, ok = partOf(m.s.heap[p.object].value, p.path+"/0").(Ptr)
	}
	if !ok || m.s.heap[inner.object] == nil {
		d.assume(m.pos, "either", aboutUnknownSyncMap)
		d.escape(m.s, Tup{m.args})
		d.finishUnknown(m)
		return true, false
	}
	name := inner.object
	switch op {
	case "Store", "Delete", "Clear":
		m.finish(KNil{})
		switch op {
		case "Store":
			d.updateMap(m.s, inner, m.arg(1), m.arg(2), anyMap(), m.pos)
		case "Delete":
			d.deletes(m.s, inner, m.arg(1), anyMap(), m.pos)
		default:
			d.clearMap(m.s, name, m.pos)
		}
		return true, false
	case "Range":
		m.finish(KNil{})
		return true, d.rangeMap(m.s, name, nil, m.arg(1), m)
	}
	return true, d.syncMapLook(m, op, name)
}

// syncMapLook: methods that look at an entry, and may change it.
func (d *Driver) syncMapLook(m *modelled, op, name string) bool {
	reg, isCall := m.site.(*ssa.Call)
	written, known := mapKey(m.s, m.arg(1))
	o := m.s.heap[name]
	if !isCall || !known || o.blurred || d.isShared(m.s, name) && o.guard == "" {
		if op != "Load" {
			d.updateMap(m.s, Ptr{name, ""}, m.arg(1), d.unknown(m.s, m.key(), nil, nil), anyMap(), m.pos)
		}
		if d.facts.abstract[name+"/map"] || !known || o.blurred {
			d.assume(m.pos, "either", aboutUnknownSyncMap)
		}
		d.finishUnknown(m)
		return false
	}
	set := func(t *State, elems ...Value) {
		if len(elems) == 1 {
			t.top().regs[reg] = elems[0]
		} else {
			t.top().regs[reg] = Tup{elems}
		}
	}
	key := m.arg(1)
	// What is done to the entry, depending on whether it is there.
	there := func(t *State, v Value) {
		switch op {
		case "Load", "LoadOrStore":
			set(t, v, KBool(true))
		case "LoadAndDelete":
			d.deletes(t, Ptr{name, ""}, key, anyMap(), m.pos)
			set(t, v, KBool(true))
		case "Swap":
			d.updateMap(t, Ptr{name, ""}, key, m.arg(2), anyMap(), m.pos)
			set(t, v, KBool(true))
		case "CompareAndSwap", "CompareAndDelete":
			same, ok := d.compare(t, v, m.arg(2), false).(KBool)
			if !ok {
				d.assume(m.pos, "either", aboutUnknownSyncMap)
				set(t, d.unknown(t, m.key(), nil, nil))
				return
			}
			if bool(same) && op == "CompareAndSwap" {
				d.updateMap(t, Ptr{name, ""}, key, m.arg(3), anyMap(), m.pos)
			} else if bool(same) {
				d.deletes(t, Ptr{name, ""}, key, anyMap(), m.pos)
			}
			set(t, same)
		}
	}
	absent := func(t *State) {
		switch op {
		case "Load", "LoadAndDelete":
			set(t, KNil{}, KBool(false))
		case "LoadOrStore":
			d.updateMap(t, Ptr{name, ""}, key, m.arg(2), anyMap(), m.pos)
			set(t, m.arg(2), KBool(false))
		case "Swap":
			d.updateMap(t, Ptr{name, ""}, key, m.arg(2), anyMap(), m.pos)
			set(t, KNil{}, KBool(false))
		default:
			set(t, KBool(false))
		}
	}
	if o.guard == "" {
		if v, ok := o.entries[written]; ok {
			there(m.s, v)
		} else {
			absent(m.s)
		}
		return false
	}
	if op != "Load" {
		// The next run has room for what is stored.
		d.noteKey(name, written, key)
	}
	return d.lookSharedHolding(m.s, name, written, reg, there, absent)
}

// rangeMap calls a function with each entry, in any order, until it returns false.
func (d *Driver) rangeMap(s *State, name string, visited []string, f Value, m *modelled) bool {
	o := s.heap[name]
	if o == nil || o.blurred || o.guard != "" || d.isShared(s, name) {
		d.assume(m.pos, "either", aboutUnknownSyncMap)
		return false
	}
	var left []string
	for _, key := range sortedKeys(o.entries) {
		if !slices.Contains(visited, key) {
			left = append(left, key)
		}
	}
	if len(left) == 0 {
		return false
	}
	visit := func(t *State, key string) {
		clo, ok := f.(Clo)
		if !ok || len(clo.fn.Blocks) == 0 {
			d.assume(m.pos, "either", aboutUnknownFunction)
			return
		}
		seen := []Value{Ptr{name, ""}, f, KStr(key)}
		for _, one := range visited {
			seen = append(seen, KStr(one))
		}
		context := d.context(t.top().context, clo.fn, fmt.Sprintf("range %d", m.pos))
		frame := d.frame(clo.fn, []Value{o.keys[key], o.entries[key]}, clo.bind, deferredSite, context)
		frame.after, frame.deferred = []After{{"maprange", seen, m.pos}}, false
		frame.site = deferredSite
		t.frames = append(t.frames, frame)
	}
	if len(left) == 1 {
		visit(s, left[0])
		return false
	}
	if len(left) > mostOrders {
		d.assume(m.pos, "under", aboutMapOrder)
		visit(s, left[0])
		return false
	}
	var arms []*Code
	for _, key := range left {
		arms = append(arms, d.fork(s, func(t *State) { visit(t, key) }))
	}
	d.put(&Code{op: opChoose, pos: m.pos, arms: arms})
	return true
}

// ranged goes on with a range over a sync.Map after the function has returned.
func (d *Driver) ranged(s *State, after After, result Value) bool {
	var visited []string
	for _, one := range after.args[2:] {
		visited = append(visited, string(one.(KStr)))
	}
	next := func(t *State) bool {
		return d.rangeMap(t, after.args[0].(Ptr).object, visited, after.args[1], &modelled{s: t, pos: after.pos, site: deferredSite})
	}
	switch result := result.(type) {
	case KBool:
		if bool(result) {
			return next(s)
		}
		return false
	}
	var condition *Expr
	if dyn, ok := result.(Dyn); ok {
		condition = dyn.expr
	}
	more := d.fork(s, func(t *State) {
		if next(t) {
			t.frames = t.frames[:0]
		}
	})
	stop := d.fork(s, func(*State) {})
	if condition != nil {
		d.put(&Code{op: opIf, on: condition, pos: after.pos, arms: []*Code{more, stop}})
	} else {
		d.put(&Code{op: opChoose, pos: after.pos, arms: []*Code{more, stop}, lossy: !fromOutside(text(result))})
	}
	return true
}

// poolModels: sync.Pool.
func (d *Driver) poolModels(m *modelled) (bool, bool) {
	if m.name != "(*sync.Pool).Get" && m.name != "(*sync.Pool).Put" {
		return false, false
	}
	p, ok := m.arg(0).(Ptr)
	var o *Object
	if ok {
		o = m.s.heap[p.object]
	}
	if o == nil {
		d.assume(m.pos, "either", aboutUnknownPool)
		d.finishUnknown(m)
		return true, false
	}
	messages := d.messages("pool " + p.object + p.path)
	if m.name == "(*sync.Pool).Put" {
		m.finish(KNil{})
		d.escape(m.s, m.arg(1))
		messages.join(d, m.s, m.arg(1), nil)
		return true, false
	}
	pool, _ := m.fn.Signature.Recv().Type().(*types.Pointer).Elem().Underlying().(*types.Struct)
	made := partOf(o.value, sub(p.path, pool.NumFields()-1))
	made = d.readCells(m.s, made, nil, m.key()+"new", m.pos)
	reg, isCall := m.site.(*ssa.Call)
	if !isCall {
		return true, false
	}
	fresh := func(t *State) bool {
		switch f := made.(type) {
		case Clo:
			return d.enter(t, m.site, nil, f, nil, m.pos, false)
		case KNil:
			t.top().regs[reg] = KNil{}
			return false
		}
		d.assume(m.pos, "either", aboutUnknownFunction)
		t.top().regs[reg] = d.unknown(t, m.key(), nil, nil)
		return false
	}
	if messages.shape == nil {
		return true, fresh(m.s)
	}
	arms := []*Code{d.fork(m.s, func(t *State) {
		if fresh(t) {
			t.frames = t.frames[:0]
		}
	})}
	if messages.open {
		if mayHoldConcurrency(m.fn.Signature.Results().At(0).Type(), 3) || messages.lost {
			d.assume(m.pos, "either", aboutUnknownPool)
		}
		arms = append(arms, d.fork(m.s, func(t *State) { t.top().regs[reg] = d.unknown(t, m.key(), nil, nil) }))
	} else {
		for _, row := range messages.rows {
			arms = append(arms, d.fork(m.s, func(t *State) { t.top().regs[reg] = d.adopt(t, row) }))
		}
	}
	d.put(&Code{op: opChoose, pos: m.pos, arms: arms})
	return true, true
}
