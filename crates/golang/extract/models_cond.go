package main

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// condModels: waiters are counted, so that a signal without a waiter is lost and no other is.
func (d *Driver) condModels(m *modelled) (bool, bool) {
	switch m.name {
	case "sync.NewCond":
		p := d.newObject(m.s, "cond", m.key(), condType(m.fn), m.pos)
		d.store(m.s, Ptr{p.(Ptr).object, "/1"}, m.arg(0), m.pos)
		m.finish(p)
		return true, false
	case "(*sync.Cond).Wait", "(*sync.Cond).Signal", "(*sync.Cond).Broadcast":
	default:
		return false, false
	}
	d.operation(m.pos)
	m.finish(KNil{})
	p, ok := m.arg(0).(Ptr)
	var agg Agg
	if ok && m.s.heap[p.object] != nil {
		agg, _ = partOf(m.s.heap[p.object].value, p.path).(Agg)
	}
	if len(agg.elems) < 3 {
		d.assume(m.pos, "either", aboutUnknownCond)
		return true, false
	}
	channel, ok1 := agg.elems[0].(Ref)
	cell, ok2 := agg.elems[2].(Ref)
	if !ok1 || !ok2 {
		d.assume(m.pos, "either", aboutUnknownCond)
		return true, false
	}
	if !d.facts.usedConds[channel.object] {
		d.facts.usedConds[channel.object] = true
		d.changed = true
	}
	switch m.name {
	case "(*sync.Cond).Signal":
		d.put(&Code{op: opSignal, on: variable(channel.object), expr: variable(cell.object), pos: m.pos})
	case "(*sync.Cond).Broadcast":
		d.put(&Code{op: opBroadcast, on: variable(channel.object), expr: variable(cell.object), pos: m.pos})
	case "(*sync.Cond).Wait":
		locker := agg.elems[1]
		if sub, isCell := locker.(Ref); isCell {
			locker = d.readCells(m.s, sub, nil, m.key(), m.pos)
		}
		d.put(&Code{op: opWaiting, on: variable(cell.object), pos: m.pos})
		return true, d.condWait(m.s, channel, locker, m.pos)
	}
	return true, false
}

// condWait unlocks, waits to be woken, and locks again. A Locker with methods of its own has these
// called.
func (d *Driver) condWait(s *State, channel Ref, locker Value, pos token.Pos) bool {
	if ifc, ok := locker.(Ifc); ok && !isLockType(ifc.typ) {
		if unlock, lock, ok := d.lockerMethods(ifc); ok {
			woken := After{"woken", []Value{channel, Clo{fn: lock}, ifc.v}, pos}
			s.frames = append(s.frames, d.outside(s, []After{woken}, Deferred{fn: Clo{fn: unlock}, args: []Value{ifc.v}, pos: pos}))
			return false
		}
	}
	d.lockerOp(s, locker, "unlock", pos)
	d.put(&Code{op: opGet, on: variable(channel.object), pos: pos})
	d.lockerOp(s, locker, "lock", pos)
	return false
}

// woken waits to be woken, and calls the Lock of a Locker.
func (d *Driver) woken(s *State, after After) bool {
	d.put(&Code{op: opGet, on: variable(after.args[0].(Ref).object), pos: after.pos})
	s.frames = append(s.frames, d.outside(s, nil, Deferred{fn: after.args[1], args: after.args[2:3], pos: after.pos}))
	return false
}

// isLockType tells the pointers to the locks of package sync, and what their RLocker returns.
func isLockType(t types.Type) bool {
	if t == nil {
		return true
	}
	pointer, ok := types.Unalias(t).(*types.Pointer)
	return ok && (lockKind(pointer.Elem()) == "mutex" || lockKind(pointer.Elem()) == "rwmutex")
}

// lockerMethods are the methods Unlock and Lock of what is in an interface.
func (d *Driver) lockerMethods(ifc Ifc) (unlock, lock *ssa.Function, ok bool) {
	if _, model := ifc.v.(Model); model {
		return nil, nil, false
	}
	set := d.world.program.MethodSets.MethodSet(ifc.typ)
	for i := range set.Len() {
		switch selection := set.At(i); selection.Obj().Name() {
		case "Unlock":
			unlock = d.world.program.MethodValue(selection)
		case "Lock":
			lock = d.world.program.MethodValue(selection)
		}
	}
	return unlock, lock, unlock != nil && lock != nil
}

// lockerOp operates a lock of package sync that is in a sync.Locker.
func (d *Driver) lockerOp(s *State, locker Value, op string, pos token.Pos) {
	switch v := locker.(type) {
	case Ifc:
		if lock, ok := d.lockAt(s, v.v); ok && isLockType(v.typ) {
			d.sync(s, op, lock, pos)
			return
		}
		if model, ok := v.v.(Model); ok {
			d.lockerOp(s, model, op, pos)
			return
		}
	case Model:
		if v.name == "rlocker" {
			if lock, ok := d.lockAt(s, v.args[0]); ok {
				d.sync(s, "r"+op, lock, pos)
				return
			}
		}
	}
	d.assume(pos, "either", aboutUnknownLock)
}

// condType is the type sync.Cond.
func condType(fn *ssa.Function) types.Type {
	if member := fn.Pkg.Pkg.Scope().Lookup("Cond"); member != nil {
		return member.Type()
	}
	return types.NewStruct(nil, nil)
}
