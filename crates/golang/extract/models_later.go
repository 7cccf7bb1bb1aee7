package main

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// laterModels: functions that run in a goroutine of their own when something has happened and
// no call has stopped them before: context.AfterFunc, time.AfterFunc.
func (d *Driver) laterModels(m *modelled) (bool, bool) {
	switch m.name {
	case "context.AfterFunc":
		d.operation(m.pos)
		// A context from outside may end at any moment.
		var done Value = anyMoment
		if context, ok := m.arg(0).(Model); ok {
			done = context.args[0]
		}
		m.finish(Model{"calloff", append(d.runLater(m, done, m.arg(1)), done)})
	case "time.AfterFunc":
		d.operation(m.pos)
		result := m.fn.Signature.Results().At(0).Type().(*types.Pointer).Elem()
		timer := d.newObject(m.s, "timer", m.key(), result, token.NoPos)
		off := d.runLater(m, anyMoment, m.arg(1))
		// The timer's second field is its own business: what stops it is kept there.
		d.store(m.s, Ptr{timer.(Ptr).object, "/1"}, Model{"calloff", append(off, anyMoment)}, m.pos)
		m.finish(timer)
	default:
		return false, false
	}
	return true, false
}

// anyMoment stands for time where a context's channel could be.
const anyMoment = KStr("any moment")

// runLater starts a goroutine that waits for a context to end, or for time if there is none, and
// then calls a function unless it has been called off. What comes back calls it off: a channel that
// ends the wait, the cell that says whether it is closed, and the cell that says whether the function
// has begun or has been called off, whichever came first.
func (d *Driver) runLater(m *modelled, done, f Value) []Value {
	_, cancel := d.derive(&modelled{s: m.s, site: m.site, pos: token.NoPos, fn: m.fn}, KNil{}, false)
	off := append([]Value(nil), cancel.(Model).args...)
	decided := Ref{d.flag(m.s, "decided_"+off[0].(Ref).object, "decided "+m.key())}
	d.spawnCall(m.s, nil, Model{"runlater", []Value{done, off[0], f, decided}}, nil, nil, m.pos, m.site)
	return append(off, decided)
}

// decide sets the cell that says whether a function has begun or has been called off, and goes on in
// one of two ways: the cell was set before, or it was not.
func (d *Driver) decide(s *State, decided Value, pos token.Pos, late, first func(*State)) {
	name := d.scalarName(s, "decided", here(s.top())+"decided "+text(decided))
	d.kinds[name] = "bool"
	d.put(&Code{op: opCellUpdate, name: name, on: variable(decided.(Ref).object), expr: &Expr{op: "bool", n: 1}})
	arms := []*Code{d.fork(s, late), d.fork(s, first)}
	d.put(&Code{op: opIf, on: variable(name), arms: arms, pos: pos})
}

// waitAndRun is what the goroutine of runLater does. No user sees it wait: it has no position.
func (d *Driver) waitAndRun(s *State, model Model) bool {
	done, off, f, decided := model.args[0], model.args[1], model.args[2], model.args[3]
	if !areRefs(off, decided) {
		d.assume(s.top().fn.Pos(), "either", aboutUnknownTimer)
		d.put(&Code{op: opEnd})
		return true
	}
	var cases []doneCase
	switch done.(type) {
	case KStr:
		cases = []doneCase{{code: &Code{op: opTimeout}, expires: true}}
	case Ref:
		cases = d.doneCases(s, done, token.NoPos)
	}
	calledOff := d.endOf(s, off)
	var arms []*Code
	for _, c := range cases {
		c.code.next = d.fork(s, func(t *State) {
			d.expire(t, c)
			d.decide(t, decided, token.NoPos, func(*State) {}, func(u *State) { d.later(u, f, nil, token.NoPos) })
			t.frames = t.frames[:0]
		})
		arms = append(arms, c.code)
	}
	stop := &Code{op: opGet, on: calledOff.expr}
	stop.next = d.fork(s, func(*State) {})
	d.put(&Code{op: opSelect, arms: append(arms, stop)})
	return true
}

// callOff is the function that context.AfterFunc returns, or a timer's Stop: what has begun to run
// is not called off, and neither is what has been called off before.
func (d *Driver) callOff(s *State, site ssa.Instruction, model Model, pos token.Pos) bool {
	reg, isCall := site.(*ssa.Call)
	result := func(t *State, stopped bool) {
		if isCall {
			t.top().regs[reg] = KBool(stopped)
		}
	}
	if !areRefs(model.args[:3]...) {
		d.assume(pos, "either", aboutUnknownTimer)
		if isCall {
			s.top().regs[reg] = d.unknown(s, here(s.top()), site, reg.Type())
		}
		return false
	}
	stop := func(t *State) {
		d.decide(t, model.args[2], pos, func(u *State) { result(u, false) }, func(u *State) {
			d.cancel(t, Model{"cancel", model.args[:2]}, token.NoPos)
			result(u, true)
		})
	}
	done, isRef := model.args[3].(Ref)
	if !isRef {
		stop(s)
		return true
	}
	var arms []*Code
	for _, c := range d.doneCases(s, done, pos) {
		c.code.next = d.fork(s, func(t *State) { d.expire(t, c); result(t, false) })
		arms = append(arms, c.code)
	}
	otherwise := &Code{op: opDefault, pos: pos}
	otherwise.next = d.fork(s, func(t *State) { stop(t); t.frames = t.frames[:0] })
	d.put(&Code{op: opSelect, arms: append(arms, otherwise), pos: pos, note: "look"})
	return true
}

// areRefs tells whether it is known of all values which channel or cell they are.
func areRefs(values ...Value) bool {
	for _, v := range values {
		if _, ok := v.(Ref); !ok {
			return false
		}
	}
	return true
}
