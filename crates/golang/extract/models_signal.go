package main

import (
	"go/token"
)

// signalModels: functions of package os/signal.
func (d *Driver) signalModels(m *modelled) bool {
	d.operation(m.pos)
	switch m.name {
	case "os/signal.NotifyContext":
		child, cancel := d.derive(m, m.arg(0), true)
		m.finish(Tup{[]Value{child, cancel}})
		return false
	case "os/signal.Notify":
		m.finish(KNil{})
		if isNil(m.arg(0)) {
			return d.panics(m.s, d.unknown(m.s, here(m.s.top()), m.site, nil), m.pos)
		}
		d.notify(m)
	case "os/signal.Stop":
		m.finish(KNil{})
		d.stopSignals(m)
	default:
		m.finish(KNil{})
		if len(d.facts.signalled) > 0 {
			// Which channels get no more signals is not followed.
			d.assume(m.pos, "either", aboutSignals)
		}
	}
	return false
}

// notify: from now on a signal may be in the channel at any moment, as a tick may be. If other
// goroutines have the channel, or if it is given up again, a goroutine sends the signals.
func (d *Driver) notify(m *modelled) {
	r, ok := m.arg(0).(Ref)
	o := m.s.heap[r.object]
	if !ok || o == nil || o.kind != "chan" && o.kind != "timer" {
		d.assume(m.pos, "either", aboutSignals)
		return
	}
	if o.kind == "timer" || len(o.signals) > 0 {
		return // it gets some already
	}
	if !d.facts.signalled[o.key] {
		d.facts.signalled[o.key] = true
		d.changed = true
	}
	if !m.s.escaped[r.object] && !d.facts.stopped[signalKey(o)] {
		m.s.heap[r.object] = &Object{kind: "timer", multi: true, key: signalKey(o)}
		return
	}
	_, cancel := d.derive(&modelled{s: m.s, site: m.site, pos: token.NoPos, fn: m.fn}, KNil{}, false)
	off := cancel.(Model).args
	copied := *m.s.heap[r.object]
	copied.signals, copied.memory = off, nil
	m.s.heap[r.object] = &copied
	d.spawnCall(m.s, nil, Model{"signals", []Value{r, off[0]}}, nil, nil, m.pos, m.site)
}

// signalKey says of a channel whether it is given up somewhere.
func signalKey(o *Object) string { return "signals " + o.key }

// stopSignals: no more signals arrive at the channel.
func (d *Driver) stopSignals(m *modelled) {
	r, ok := m.arg(0).(Ref)
	o := m.s.heap[r.object]
	switch {
	case isNil(m.arg(0)):
	case !ok || o == nil:
		d.assume(m.pos, "either", aboutSignals)
	case o.kind == "timer":
		// The next run knows that signals do not arrive forever.
		if !d.facts.stopped[o.key] {
			d.facts.stopped[o.key] = true
			d.changed = true
		}
	case len(o.signals) > 0:
		d.cancel(m.s, Model{"cancel", o.signals}, token.NoPos)
		copied := *o
		copied.signals, copied.memory = nil, nil
		m.s.heap[r.object] = &copied
	case d.facts.signalled[o.key]:
		d.assume(m.pos, "either", aboutSignals)
	}
}

// sendSignals is the goroutine that sends signals until it is told to stop. No user sees it wait: it
// has no position.
func (d *Driver) sendSignals(s *State, model Model) bool {
	to, off := d.endOf(s, model.args[0]), d.endOf(s, model.args[1])
	if to.object == nil || off.object == nil || to.timer {
		d.assume(s.top().fn.Pos(), "either", aboutSignals)
		d.put(&Code{op: opEnd})
		return true
	}
	signal := d.fromEnvironment(s, "signal", nil, to.object.typ)
	send := &Code{op: opPut, on: to.expr, expr: d.message(s, to, signal, token.NoPos)}
	send.next = d.fork(s, func(t *State) {
		f := t.top()
		f.defers = append(f.defers, Deferred{fn: model, pos: token.NoPos})
		node, subst := d.arrive(t, "signals", token.NoPos, d.limits.states)
		d.put(&Code{op: opGoto, node: node, subst: subst})
		t.frames = t.frames[:0]
	})
	stop := &Code{op: opGet, on: off.expr}
	stop.next = d.fork(s, func(*State) {})
	d.put(&Code{op: opSelect, arms: []*Code{send, stop}})
	return true
}
