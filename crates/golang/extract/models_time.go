package main

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// timeModels: a timer may fire at any moment.
func (d *Driver) timeModels(m *modelled) (bool, bool) {
	switch m.name {
	case "time.Sleep":
		if d.inBubble(m.s) {
			return true, d.waitsForOthers(m)
		}
		m.finish(KNil{})
	case "time.After":
		d.operation(m.pos)
		m.finish(d.newClock(m, "timer"))
	case "time.Tick":
		if wait, ok := m.arg(0).(KInt); ok && wait <= 0 {
			m.finish(KNil{})
			break
		}
		m.finish(d.newTicks(m))
	case "time.NewTimer", "time.NewTicker":
		d.operation(m.pos)
		result := m.fn.Signature.Results().At(0).Type().(*types.Pointer).Elem()
		p := d.newObject(m.s, "timer", m.key(), result, token.NoPos).(Ptr)
		var channel Value
		switch {
		case m.name == "time.NewTimer":
			channel = d.newClock(m, "timer")
		case d.facts.stopped[m.key()]:
			channel = d.newClock(m, "ticker")
		default:
			channel = d.newTicks(m)
		}
		d.store(m.s, Ptr{p.object, "/0"}, channel, m.pos)
		m.finish(p)
	case "(*time.Timer).Stop", "(*time.Timer).Reset", "(*time.Ticker).Stop", "(*time.Ticker).Reset":
		d.operation(m.pos)
		return true, d.setClock(m, strings.HasSuffix(m.name, "Stop"))
	default:
		return false, false
	}
	return true, false
}

// newTicks is the channel of a ticker that is never stopped: it may be ready at any moment.
func (d *Driver) newTicks(m *modelled) Value {
	name := d.fresh(m.s, "ticker", "ticks "+m.key())
	m.s.heap[name] = &Object{kind: "timer", multi: true, key: m.key()}
	return Ref{name}
}

// newClock is the channel of a timer or ticker: a message is in it as long as it runs. When it fires
// is not for the program to say, so a receive may happen at any moment from the start on; since a
// stopped timer delivers nothing, to stop it takes the message away.
func (d *Driver) newClock(m *modelled, clock string) Value {
	r := d.newChannel(m.s, clock, "clock "+m.key(), 1, types.NewStruct(nil, nil), token.NoPos).(Ref)
	d.nameClock(m, r.object)
	copied := *m.s.heap[r.object]
	copied.clock, copied.typ = clock, nil
	m.s.heap[r.object] = &copied
	d.messages(copied.key).join(d, m.s, Sym{"?"}, nil)
	d.put(&Code{op: opPut, on: variable(r.object), expr: &Expr{op: "unit"}})
	m.s.counts(r.object, 1)
	return r
}

// setClock stops a timer or ticker, or starts it again.
func (d *Driver) setClock(m *modelled, stop bool) bool {
	result := func(s *State, v Value) {
		if reg, ok := m.site.(*ssa.Call); ok && strings.HasPrefix(m.name, "(*time.Timer)") {
			s.top().regs[reg] = v
		}
	}
	p, ok := m.arg(0).(Ptr)
	if !ok || m.s.heap[p.object] == nil {
		d.assume(m.pos, "either", aboutUnknownTimer)
		result(m.s, d.unknown(m.s, here(m.s.top()), m.site, nil))
		return false
	}
	part := d.readCells(m.s, partOf(m.s.heap[p.object].value, p.path+"/0"), nil, m.key(), m.pos)
	r, ok := part.(Ref)
	if !ok {
		off, isFunction := partOf(m.s.heap[p.object].value, p.path+"/1").(Model)
		if !isFunction {
			d.assume(m.pos, "either", aboutUnknownTimer)
		} else if stop {
			return d.callOff(m.s, m.site, off, m.pos)
		} else {
			d.assume(m.pos, "either", aboutResetFunction)
		}
		result(m.s, d.unknown(m.s, here(m.s.top()), m.site, nil))
		return false
	}
	o := m.s.heap[r.object]
	if o.kind == "timer" {
		// The next run knows that this ticker does not tick forever.
		if !d.facts.stopped[o.key] {
			d.facts.stopped[o.key] = true
			d.changed = true
		}
		return false
	}
	set := func(s *State, ran bool) {
		if !stop {
			d.put(&Code{op: opPut, on: variable(r.object), expr: &Expr{op: "unit"}})
			s.counts(r.object, 1)
		}
		result(s, KBool(ran))
	}
	n, known := m.s.count(r.object)
	if stale := !known || n > 0; stale && !d.hasUnbufferedTimers() {
		if !stop {
			d.assume(m.pos, "either", aboutUnknownTimer)
		} else {
			return d.stopsLate(m, r, result)
		}
	}
	if known {
		if n > 0 {
			d.put(&Code{op: opGet, on: variable(r.object)})
			m.s.counts(r.object, -1)
		}
		set(m.s, n > 0)
		return false
	}
	took := &Code{op: opGet, on: variable(r.object)}
	took.next = d.fork(m.s, func(t *State) { set(t, true) })
	none := &Code{op: opDefault}
	none.next = d.fork(m.s, func(t *State) { set(t, false) })
	d.put(&Code{op: opSelect, arms: []*Code{took, none}})
	return true
}

// stopsLate stops a timer or ticker whose message is kept in its channel, as before Go 1.23: it may be
// there already, and then it stays.
func (d *Driver) stopsLate(m *modelled, channel Ref, result func(*State, Value)) bool {
	took := &Code{op: opGet, on: variable(channel.object)}
	took.next = d.fork(m.s, func(t *State) {
		t.counts(channel.object, -1)
		result(t, KBool(true))
	})
	none := &Code{op: opDefault}
	none.next = d.fork(m.s, func(t *State) { result(t, KBool(false)) })
	inTime := &Code{op: opSelect, arms: []*Code{took, none}}
	fired := d.fork(m.s, func(t *State) { result(t, KBool(false)) })
	d.put(&Code{op: opChoose, pos: m.pos, arms: []*Code{inTime, fired}})
	return true
}

// callModel calls a function that is a model.
func (d *Driver) callModel(s *State, site ssa.Instruction, model Model, args []Value, pos token.Pos, finish func(Value)) bool {
	switch model.name {
	case "swapper":
		finish(KNil{})
		if d.swap(s, model, args, pos) {
			return false
		}
	case "runlater":
		return d.waitAndRun(s, model)
	case "coroutine":
		return d.runCoroutine(s, model, pos)
	case "signals":
		return d.sendSignals(s, model)
	case "quiet":
		// A function that a variable of a quiet package holds.
		d.forgetAll(s, args)
		d.escape(s, Tup{args})
		var results types.Type
		if reg, ok := site.(*ssa.Call); ok {
			results = reg.Type()
		}
		finish(d.fromEnvironment(s, here(s.top()), site, results))
		return false
	case "calloff":
		d.operation(pos)
		return d.callOff(s, site, model, pos)
	case "cancel":
		d.operation(pos)
		finish(KNil{})
		return d.cancelWith(s, model, args, pos)
	case "oncefunc":
		finish(KNil{})
		return d.callOnce(s, deferredSite, model, pos, finish)
	case "oncevalue":
		return d.callOnce(s, site, model, pos, finish)
	}
	d.assume(pos, "either", aboutUnknownFunction)
	finish(KNil{})
	return false
}

// modelMethod calls a method of a model.
func (d *Driver) modelMethod(s *State, site ssa.Instruction, call *ssa.CallCommon, model Model, args []Value, pos token.Pos, finish func(Value)) bool {
	var results types.Type = call.Signature().Results()
	if call.Signature().Results().Len() == 1 {
		results = call.Signature().Results().At(0).Type()
	}
	if model.name == "formatstate" {
		result, ok := d.formatStateMethod(s, model, call.Method.Name(), args, pos)
		if !ok {
			result = d.unknown(s, here(s.top()), site, results)
		}
		finish(result)
		return false
	}
	switch model.name + "." + call.Method.Name() {
	case "reflected.Comparable":
		if ifc, ok := model.args[0].(Ifc); ok && ifc.typ != nil {
			finish(KBool(types.Comparable(ifc.typ)))
			return false
		}
		if isNil(model.args[0]) {
			finish(KBool(true))
			return false
		}
	case "context.Done":
		finish(model.args[0])
		return false
	case "context.Value":
		if value, ok := contextValue(model, args[0]); ok {
			finish(value)
			return false
		}
	case "context.Deadline":
		if timed, known := s.hasDeadline(model); known {
			at := d.unknown(s, here(s.top()), site, results)
			if both, ok := at.(Tup); ok && len(both.elems) == 2 {
				finish(Tup{[]Value{both.elems[0], KBool(timed)}})
				return false
			}
		}
	case "context.Err":
		return d.contextErr(s, site, model, false, pos, finish)
	case "rlocker.Lock", "rlocker.Unlock":
		d.operation(pos)
		d.lockerOp(s, model, strings.ToLower(call.Method.Name()), pos)
		finish(KNil{})
		return false
	}
	finish(d.unknown(s, here(s.top()), site, results))
	return false
}

// runtimeModels: what ends goroutines and tests.
func (d *Driver) runtimeModels(m *modelled) (bool, bool) {
	switch m.name {
	case "runtime.Gosched", "runtime.GC":
		m.finish(KNil{})
	case "runtime.Goexit":
		f := m.s.top()
		f.mode, f.panicPos = "exit", m.pos
	case "os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "(*log.Logger).Fatal", "(*log.Logger).Fatalf", "(*log.Logger).Fatalln":
		d.notePrinted(m)
		if m.s.frames[0].fn.Name() == "TestMain" && m.s.root == "main" {
			// What a test has left behind is looked at all the same.
			d.put(&Code{op: opEnd, pos: m.pos})
			return true, true
		}
		// The program ends, and with it every goroutine.
		d.put(&Code{op: opPanic, note: "exit", pos: m.pos})
		return true, true
	case "os/signal.Notify", "os/signal.Stop", "os/signal.Reset", "os/signal.Ignore", "os/signal.NotifyContext":
		return true, d.signalModels(m)
	case "runtime.NumCPU", "runtime.GOMAXPROCS":
		return d.processors(m)
	case "log.Panic", "log.Panicf", "log.Panicln", "(*log.Logger).Panic", "(*log.Logger).Panicf", "(*log.Logger).Panicln":
		d.notePrinted(m)
		return true, d.panics(m.s, Ifc{types.Typ[types.String], d.unknown(m.s, here(m.s.top()), m.site, nil)}, m.pos)
	case "math/rand.Intn", "math/rand.Int31n", "math/rand.Int63n", "math/rand/v2.IntN", "math/rand/v2.Int64N", "math/rand/v2.Int32N", "math/rand/v2.N",
		"(*math/rand.Rand).Intn", "(*math/rand/v2.Rand).IntN":
		return d.draw(m)
	default:
		return false, false
	}
	return true, false
}

// notePrinted: the methods of what is printed before the program ends, or panics, are not followed.
func (d *Driver) notePrinted(m *modelled) {
	if m.name == "os.Exit" {
		return
	}
	if target := (Target{m.fn, m.args}); len(d.callbacks(m.s, target)) > 0 {
		d.assume(m.pos, "either", aboutUnreadCallback, m.fn.String())
	}
}

// processors: a machine has one or more of them. Programs that start a goroutine for each are
// looked at with one and with two.
func (d *Driver) processors(m *modelled) (bool, bool) {
	reg, isCall := m.site.(*ssa.Call)
	if !isCall {
		return false, false
	}
	d.assume(m.pos, "under", aboutProcessors)
	one := d.fork(m.s, func(t *State) { t.top().regs[reg] = KInt(1) })
	two := d.fork(m.s, func(t *State) { t.top().regs[reg] = KInt(2) })
	d.put(&Code{op: opChoose, pos: m.pos, arms: []*Code{one, two}})
	return true, true
}

// draw chooses a random number from a small known range.
func (d *Driver) draw(m *modelled) (bool, bool) {
	n, ok := m.args[len(m.args)-1].(KInt)
	reg, isCall := m.site.(*ssa.Call)
	if !ok || !isCall || n < 1 || n > 16 {
		return false, false
	}
	var arms []*Code
	for i := range n {
		arms = append(arms, d.fork(m.s, func(t *State) { t.top().regs[reg] = i }))
	}
	d.put(&Code{op: opChoose, pos: m.pos, arms: arms})
	return true, true
}

// spawnModel starts a goroutine whose function has no source: a model, or a function of the
// standard library.
func (d *Driver) spawnModel(s *State, call *ssa.CallCommon, model Model, target Target, args []Value, after []After, pos token.Pos) {
	var fn Value = model
	if target.fn != nil {
		fn, args = Clo{fn: target.fn}, target.args
	}
	d.spawnOutside(s, Deferred{fn: fn, args: args, pos: pos}, after, pos)
}

// spawnOutside starts a goroutine that makes one call.
func (d *Driver) spawnOutside(s *State, deferred Deferred, after []After, pos token.Pos) {
	child := s.clone()
	child.root = fmt.Sprintf("go model %d", pos)
	frame := d.outside(s, after, deferred)
	frame.site, frame.deferred, frame.at = nil, false, pos
	frame.context = d.context(0, s.top().fn, child.root)
	child.frames = []*Frame{frame}
	d.instances[child.root]++
	d.startedAgain(s, child.root)
	node, subst := d.arrive(child, "go", pos, d.limits.roots)
	called, _ := deferred.fn.(Clo)
	d.put(&Code{op: opSpawn, node: node, subst: subst, pos: pos, runs: called.fn})
}
