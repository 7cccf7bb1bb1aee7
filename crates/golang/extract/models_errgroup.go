package main

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// The parts of an errgroup.Group, as this program keeps it.
const (
	groupWait   = "/0" // the wait group of its goroutines
	groupCancel = "/1" // what ends its context
	groupSlots  = "/2" // a place for each goroutine, if there is a limit
	groupFailed = "/3" // whether a goroutine has returned an error
	groupError  = "/4" // the first error
)

// newGroup is the zero of errgroup.Group.
func (d *Driver) newGroup(s *State, hint string, pos token.Pos) Value {
	failed := d.flag(s, "failed_"+hint, "failed "+hint)
	return Agg{[]Value{d.newLock(s, hint, "waitgroup", pos), KNil{}, KNil{}, Ref{failed}, KNil{}}}
}

// errgroupModels: a wait group, perhaps a context, perhaps a semaphore, and the first error.
func (d *Driver) errgroupModels(m *modelled) (bool, bool) {
	const group = "golang.org/x/sync/errgroup"
	if !strings.Contains(m.name, group+".") {
		return false, false
	}
	d.operation(m.pos)
	switch strings.ReplaceAll(m.name, group+".", "") {
	case "WithContext":
		child, cancel := d.derive(m, m.arg(0), false)
		d.keepCause(m, child)
		t := m.fn.Signature.Results().At(0).Type().(*types.Pointer).Elem()
		p := d.newObject(m.s, "group", m.key(), t, m.pos).(Ptr)
		d.store(m.s, Ptr{p.object, groupCancel}, cancel, m.pos)
		m.finish(Tup{[]Value{p, child}})
	case "(*Group).SetLimit":
		p, ok1 := m.arg(0).(Ptr)
		n, ok2 := m.arg(1).(KInt)
		if !d.isIdle(m.s, p) {
			// Goroutines that are there already have or want a place of the old limit.
			d.assume(m.pos, "either", aboutUnknownLimit)
		}
		if ok1 && ok2 && n < 0 {
			d.store(m.s, Ptr{p.object, p.path + groupSlots}, KNil{}, m.pos)
			break
		}
		if !ok1 || !ok2 {
			d.assume(m.pos, "either", aboutUnknownLimit)
			break
		}
		slots := d.newChannel(m.s, "slots", "slots "+m.key(), int64(n), types.NewStruct(nil, nil), token.NoPos)
		d.store(m.s, Ptr{p.object, p.path + groupSlots}, slots, m.pos)
	case "(*Group).Go":
		m.finish(KNil{})
		d.errgroupGo(m, true)
	case "(*Group).TryGo":
		return true, d.errgroupTry(m)
	case "(*Group).Wait":
		return true, d.errgroupWait(m)
	default:
		return false, false
	}
	return true, false
}

// isIdle tells groups that have started no goroutine yet.
func (d *Driver) isIdle(s *State, group Ptr) bool {
	wait, ok := d.lockAt(s, Ptr{group.object, group.path + groupWait})
	if !ok {
		return false
	}
	n, known := s.count(wait.name)
	return known && n == 0
}

// errgroupGo starts a goroutine of a group, when there is a place for it.
func (d *Driver) errgroupGo(m *modelled, waits bool) {
	p, _ := m.arg(0).(Ptr)
	wait, ok := d.lockAt(m.s, Ptr{p.object, p.path + groupWait})
	if !ok {
		d.assume(m.pos, "either", aboutUnknownGroup)
		d.spawnCall(m.s, nil, m.arg(1), nil, nil, m.pos, m.site)
		return
	}
	value := m.s.heap[p.object].value
	cancel, slots, failed := partOf(value, p.path+groupCancel), partOf(value, p.path+groupSlots), partOf(value, p.path+groupFailed)
	if slot, ok := slots.(Ref); ok && waits {
		d.put(&Code{op: opPut, on: variable(slot.object), expr: &Expr{op: "unit"}, pos: m.pos})
	}
	d.put(&Code{op: opAdd, on: wait, expr: &Expr{op: "int", n: 1}, pos: m.pos})
	parts := []Value{Ref{wait.name}, cancel, slots, failed, Ptr{p.object, p.path + groupError}}
	d.spawnCall(m.s, nil, m.arg(1), nil, []After{{"errgroup", parts, m.pos}}, m.pos, m.site)
}

// errgroupTry starts a goroutine if there is a place for it now.
func (d *Driver) errgroupTry(m *modelled) bool {
	p, isGroup := m.arg(0).(Ptr)
	reg, isCall := m.site.(*ssa.Call)
	var slots Value
	if isGroup && m.s.heap[p.object] != nil {
		slots = partOf(m.s.heap[p.object].value, p.path+groupSlots)
	}
	slot, limited := slots.(Ref)
	if !limited || !isCall {
		if !isNil(slots) {
			d.assume(m.pos, "either", aboutTryGo)
		}
		m.finish(KBool(true))
		d.errgroupGo(m, true)
		return false
	}
	took := &Code{op: opPut, on: variable(slot.object), expr: &Expr{op: "unit"}, pos: m.pos}
	took.next = d.fork(m.s, func(t *State) {
		t.top().regs[reg] = KBool(true)
		d.errgroupGo(&modelled{s: t, site: m.site, name: m.name, args: m.args, fn: m.fn, pos: m.pos}, false)
	})
	full := &Code{op: opDefault, pos: m.pos}
	full.next = d.fork(m.s, func(t *State) { t.top().regs[reg] = KBool(false) })
	d.put(&Code{op: opSelect, arms: []*Code{took, full}, pos: m.pos})
	return true
}

// errgroupWait waits for all goroutines, returns the first error, and ends the context.
func (d *Driver) errgroupWait(m *modelled) bool {
	p, _ := m.arg(0).(Ptr)
	wait, ok := d.lockAt(m.s, Ptr{p.object, p.path + groupWait})
	if !ok {
		d.assume(m.pos, "either", aboutUnknownGroup)
		m.finish(d.unknown(m.s, here(m.s.top()), m.site, errorType))
		return false
	}
	d.put(&Code{op: opSync, note: "wait", on: wait, pos: m.pos})
	m.finish(d.loadAt(m, Ptr{p.object, p.path + groupError}, errorType))
	if cancel, ok := partOf(m.s.heap[p.object].value, p.path+groupCancel).(Model); ok {
		// If there was an error, it has ended the context before.
		return d.cancelWith(m.s, cancel, []Value{KNil{}}, m.pos)
	}
	return false
}

// errgroupDone ends a goroutine of a group: the first error is kept, and ends the group's context.
func (d *Driver) errgroupDone(s *State, after After, result Value) bool {
	finish := func() {
		if slot, ok := after.args[2].(Ref); ok {
			d.put(&Code{op: opGet, on: variable(slot.object), pos: after.pos})
		}
		d.put(&Code{op: opSync, note: "done", on: variable(after.args[0].(Ref).object), pos: after.pos})
	}
	if isNil(result) {
		finish()
		return false
	}
	if _, failed := result.(Ifc); failed {
		return d.errgroupFails(s, after, result, finish)
	}
	failed := d.fork(s, func(t *State) {
		if d.errgroupFails(t, after, result, finish) {
			t.frames = t.frames[:0]
		}
	})
	fine := d.fork(s, func(t *State) { finish() })
	d.put(&Code{op: opChoose, pos: after.pos, arms: []*Code{failed, fine}, lossy: !fromOutside(text(result))})
	return true
}

// errgroupFails keeps an error if it is the first one of its group. It tells whether the code being
// written has come to an end.
func (d *Driver) errgroupFails(s *State, after After, err Value, finish func()) bool {
	failed, ok := after.args[3].(Ref)
	if !ok {
		d.assume(after.pos, "either", aboutUnknownGroup)
		finish()
		return false
	}
	d.decide(s, failed, after.pos, func(*State) { finish() }, func(t *State) {
		d.store(t, after.args[4], err, after.pos)
		cancel, ok := after.args[1].(Model)
		if !ok {
			finish()
			return
		}
		var o *Object
		done, isRef := cancel.args[0].(Ref)
		if isRef {
			o = t.heap[done.object]
		}
		if o == nil || o.cause == "" || o.ended == "" {
			d.cancel(t, cancel, after.pos)
			finish()
			return
		}
		name := d.scalarName(t, "before", here(t.top())+"fails "+done.object)
		d.kinds[name] = "bool"
		d.put(&Code{op: opCellRead, name: name, on: variable(o.ended)})
		again := d.fork(t, func(*State) { finish() })
		first := d.fork(t, func(u *State) {
			d.store(u, Ptr{o.cause, ""}, err, after.pos)
			d.cancel(u, cancel, after.pos)
			finish()
		})
		d.put(&Code{op: opIf, on: variable(name), pos: after.pos, arms: []*Code{again, first}})
		t.frames = t.frames[:0]
	})
	return true
}
