package main

import (
	"fmt"
	"go/token"
	"go/types"
)

// The coroutines of iter.Pull: a goroutine of its own that runs only while the other side waits. Each
// side hands over by a message to the other one, and waits for a message back. No user sees these
// channels: their operations have no position.

// coroutineModels: the two functions of the runtime that package iter asks for.
func (d *Driver) coroutineModels(m *modelled) (bool, bool) {
	switch m.name {
	case "iter.newcoro":
		d.operation(m.pos)
		nothing := types.NewStruct(nil, nil)
		at := calledAt(m.s)
		into := d.newChannel(m.s, "resume", "resume "+m.key(), 0, nothing, token.NoPos)
		back := d.newChannel(m.s, "suspend", "suspend "+m.key(), 0, nothing, token.NoPos)
		d.messages(m.s.heap[into.(Ref).object].key).join(d, m.s, zeroPlain(nothing), nothing)
		d.messages(m.s.heap[back.(Ref).object].key).join(d, m.s, zeroPlain(nothing), nothing)
		d.spawnCall(m.s, nil, Model{"coroutine", []Value{m.arg(0), into, back}}, nil, nil, at, m.site)
		m.finish(Model{"coro", []Value{into, back}})
	case "iter.coroswitch":
		coro, ok := m.arg(0).(Model)
		if !ok || coro.name != "coro" || !areRefs(coro.args...) {
			d.assume(m.pos, "either", aboutUnknownGoroutine)
			m.finish(KNil{})
			break
		}
		m.finish(KNil{})
		d.put(&Code{op: opPut, on: variable(coro.args[0].(Ref).object), expr: &Expr{op: "unit"}})
		d.put(&Code{op: opGet, on: variable(coro.args[1].(Ref).object)})
	default:
		return false, false
	}
	return true, false
}

// runCoroutine is what the goroutine of a coroutine does: it waits for its turn, runs the function, and
// gives the last turn back.
func (d *Driver) runCoroutine(s *State, model Model, pos token.Pos) bool {
	f, ok := model.args[0].(Clo)
	if !ok || !areRefs(model.args[1:]...) || len(f.fn.Blocks) == 0 {
		d.assume(pos, "either", aboutUnknownGoroutine)
		d.put(&Code{op: opEnd})
		return true
	}
	into, back := model.args[1], model.args[2]
	d.put(&Code{op: opGet, on: variable(into.(Ref).object)})
	context := d.context(s.top().context, f.fn, fmt.Sprintf("coroutine %d", pos))
	frame := d.frame(f.fn, []Value{Model{"coro", []Value{back, into}}}, f.bind, deferredSite, context)
	frame.after, frame.deferred, frame.at = []After{{"coroutine", []Value{back}, token.NoPos}}, true, pos
	s.frames = append(s.frames, frame)
	return false
}

// endCoroutine gives the last turn back.
func (d *Driver) endCoroutine(after After) {
	d.put(&Code{op: opPut, on: variable(after.args[0].(Ref).object), expr: &Expr{op: "unit"}})
}
