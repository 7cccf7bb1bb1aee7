package main

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

const semaphorePackage = "golang.org/x/sync/semaphore"

// mostHeld is how much of a semaphore is followed, place by place.
const mostHeld = 64

// semaphoreModels: a semaphore.Weighted is a buffer with a place for each unit. Who acquires holds
// a gate meanwhile, since later ones wait behind those who came first, however little they ask for.
func (d *Driver) semaphoreModels(m *modelled) (bool, bool) {
	name := strings.ReplaceAll(m.name, semaphorePackage+".", "")
	if name == m.name {
		return false, false
	}
	switch name {
	case "NewWeighted":
		d.operation(m.pos)
		d.newSemaphore(m)
		return true, false
	case "(*Weighted).Acquire", "(*Weighted).TryAcquire", "(*Weighted).Release":
	default:
		return false, false
	}
	d.operation(m.pos)
	units, gate, known := d.semaphoreAt(m)
	amount, constant := m.arg(len(m.args) - 1).(KInt)
	if !known || !constant || amount < 0 || amount > mostHeld {
		d.assume(m.pos, "either", aboutUnknownSemaphore)
		m.finish(d.unknown(m.s, here(m.s.top()), m.site, nil))
		return true, false
	}
	switch name {
	case "(*Weighted).Acquire":
		return true, d.acquire(m, units, gate, int(amount))
	case "(*Weighted).TryAcquire":
		return true, d.tryAcquire(m, units, int(amount))
	}
	m.finish(KNil{})
	return true, d.release(m, units, int(amount))
}

func (d *Driver) newSemaphore(m *modelled) {
	t := m.fn.Signature.Results().At(0).Type().(*types.Pointer).Elem()
	p := d.newObject(m.s, "semaphore", m.key(), t, m.pos).(Ptr)
	m.finish(p)
	size, ok := m.arg(0).(KInt)
	if !ok || size < 0 || size > mostHeld {
		return // every operation says that it is not known
	}
	unit := types.NewStruct(nil, nil)
	units := d.newChannel(m.s, "units", "units "+m.key(), int64(size), unit, token.NoPos)
	gate := d.newChannel(m.s, "gate", "gate "+m.key(), 1, unit, token.NoPos)
	d.nameModel(m, units, "semaphore", "")
	d.nameModel(m, gate, "semaphore", ".queue")
	d.store(m.s, Ptr{p.object, "/0"}, units, m.pos)
	d.store(m.s, Ptr{p.object, "/1"}, gate, m.pos)
	d.store(m.s, Ptr{p.object, "/2"}, size, m.pos)
}

// semaphoreAt finds the channels that a semaphore is made of.
func (d *Driver) semaphoreAt(m *modelled) (units, gate *Expr, known bool) {
	p, ok := m.arg(0).(Ptr)
	if !ok || m.s.heap[p.object] == nil {
		return nil, nil, false
	}
	value := m.s.heap[p.object].value
	first, ok1 := partOf(value, p.path+"/0").(Ref)
	second, ok2 := partOf(value, p.path+"/1").(Ref)
	if !ok1 || !ok2 {
		return nil, nil, false
	}
	return variable(first.object), variable(second.object), true
}

// acquire takes the gate, then unit by unit, then gives the gate back. A context that ends while it
// waits has everything given back.
func (d *Driver) acquire(m *modelled, units, gate *Expr, amount int) bool {
	wanted := append([]*Expr{gate}, make([]*Expr, amount)...)
	for i := range amount {
		wanted[i+1] = units
	}
	var done Value = anyMoment
	if context, ok := m.arg(1).(Model); ok {
		done = context.args[0]
	}
	leave := func() { d.put(&Code{op: opGet, on: gate}) }
	if isNil(done) {
		for _, on := range wanted {
			d.put(&Code{op: opPut, on: on, expr: &Expr{op: "unit"}, pos: m.pos})
		}
		leave()
		m.finish(KNil{})
		return false
	}
	reg, isCall := m.site.(*ssa.Call)
	result := func(t *State, v Value) {
		if isCall {
			t.top().regs[reg] = v
		}
	}
	var step func(s *State, taken int)
	step = func(s *State, taken int) {
		if taken == len(wanted) {
			leave()
			result(s, KNil{})
			return
		}
		cases := []doneCase{{code: &Code{op: opTimeout, pos: m.pos}, expires: true}}
		if _, ok := done.(Ref); ok {
			cases = d.doneCases(s, done, m.pos)
		}
		var arms []*Code
		for _, c := range cases {
			arms = append(arms, c.code)
			c.code.next = d.fork(s, func(t *State) {
				d.expire(t, c)
				for i := taken - 1; i >= 0; i-- {
					d.put(&Code{op: opGet, on: wanted[i]})
				}
				d.firstEnded(t, ended(cases, c), m.key(), func(u *State, of string) {
					result(u, d.reason(u, of, false, m.key(), m.pos))
				})
			})
		}
		take := &Code{op: opPut, on: wanted[taken], expr: &Expr{op: "unit"}, pos: m.pos}
		take.next = d.fork(s, func(t *State) { step(t, taken+1) })
		d.put(&Code{op: opSelect, arms: append(arms, take), pos: m.pos})
		// What follows is in the arms.
		s.frames = s.frames[:0]
	}
	step(m.s, 0)
	return true
}

// tryAcquire takes all units or none.
func (d *Driver) tryAcquire(m *modelled, units *Expr, amount int) bool {
	reg, isCall := m.site.(*ssa.Call)
	if !isCall || amount != 1 {
		d.assume(m.pos, "either", aboutUnknownSemaphore)
		m.finish(KBool(false))
		return false
	}
	take := &Code{op: opPut, on: units, expr: &Expr{op: "unit"}, pos: m.pos}
	take.next = d.fork(m.s, func(t *State) { t.top().regs[reg] = KBool(true) })
	otherwise := &Code{op: opDefault, pos: m.pos}
	otherwise.next = d.fork(m.s, func(t *State) { t.top().regs[reg] = KBool(false) })
	d.put(&Code{op: opSelect, arms: []*Code{take, otherwise}, pos: m.pos})
	return true
}

// release gives units back; more than are held is a panic.
func (d *Driver) release(m *modelled, units *Expr, amount int) bool {
	if amount == 0 {
		return false
	}
	give := &Code{op: opGet, on: units, pos: m.pos}
	give.next = d.fork(m.s, func(t *State) {
		if d.release(&modelled{s: t, site: m.site, pos: m.pos}, units, amount-1) {
			t.frames = t.frames[:0]
		}
	})
	more := &Code{op: opDefault, pos: m.pos}
	more.next = d.fork(m.s, func(t *State) {
		if d.panics(t, Ifc{types.Typ[types.String], KStr("semaphore: released more than held")}, m.pos) {
			t.frames = t.frames[:0]
		}
	})
	d.put(&Code{op: opSelect, arms: []*Code{give, more}, pos: m.pos})
	return true
}
