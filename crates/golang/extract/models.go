package main

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// modelled is what a model is given: where it is called, and how its result is handed on.
type modelled struct {
	s      *State
	site   ssa.Instruction
	name   string
	args   []Value
	fn     *ssa.Function
	pos    token.Pos
	finish func(Value)
}

func (m *modelled) key() string { return here(m.s.top()) + fmt.Sprintf("%p", m.site) }

func (m *modelled) arg(i int) Value {
	if i >= 0 && i < len(m.args) {
		return m.args[i]
	}
	return KNil{}
}

// callModelled performs the functions of the standard library that this program knows by itself.
// It tells whether it does, and whether the code being written has come to an end.
func (d *Driver) callModelled(s *State, site ssa.Instruction, target Target, pos token.Pos, finish func(Value)) (bool, bool) {
	fn := target.fn
	if origin := fn.Origin(); origin != nil {
		fn = origin
	}
	if fn.Pkg == nil && fn.Object() == nil {
		return false, false
	}
	m := &modelled{s, site, functionName(fn), target.args, fn, pos, finish}
	for _, family := range []func(*modelled) (bool, bool){
		d.refusalModels, d.lockModels, d.waitGroupModels, d.syncMapModels, d.poolModels, d.onceModels, d.condModels, d.atomicModels,
		d.timeModels, d.laterModels, d.contextModels, d.errgroupModels, d.semaphoreModels, d.testingModels, d.runtimeModels, d.coroutineModels, d.standardModels,
	} {
		if done, end := family(m); done {
			return true, end
		}
	}
	return false, false
}

// functionName is such as "(*sync.Mutex).Lock" or "time.After".
func functionName(fn *ssa.Function) string {
	name := fn.String()
	if i := strings.Index(name, "["); i > 0 {
		if j := strings.LastIndex(name, "]"); j > i {
			name = name[:i] + name[j+1:]
		}
	}
	return name
}

// lockAt finds the lock that a pointer points to.
func (d *Driver) lockAt(s *State, pointer Value) (*Expr, bool) {
	p, ok := pointer.(Ptr)
	if !ok {
		return nil, false
	}
	o := s.heap[p.object]
	if o == nil {
		return nil, false
	}
	part, ok := at(o.value, p.path)
	if !ok {
		return nil, false
	}
	if r, ok := part.(Ref); ok && isLock(s, r) {
		return variable(r.object), true
	}
	return nil, false
}

func (d *Driver) lockModels(m *modelled) (bool, bool) {
	op := ""
	switch m.name {
	case "(*sync.Mutex).Lock", "(*sync.RWMutex).Lock":
		op = "lock"
	case "(*sync.Mutex).Unlock", "(*sync.RWMutex).Unlock":
		op = "unlock"
	case "(*sync.RWMutex).RLock":
		op = "rlock"
	case "(*sync.RWMutex).RUnlock":
		op = "runlock"
	case "(*sync.RWMutex).RLocker":
		m.finish(Model{"rlocker", m.args})
		return true, false
	case "(*sync.Mutex).TryLock", "(*sync.RWMutex).TryLock", "(*sync.RWMutex).TryRLock":
		return true, d.tryLock(m)
	default:
		return false, false
	}
	d.operation(m.pos)
	if isNil(m.arg(0)) {
		return true, d.panics(m.s, d.runtimeError("runtime error: invalid memory address or nil pointer dereference"), m.pos)
	}
	lock, ok := d.lockAt(m.s, m.arg(0))
	if !ok {
		d.assume(m.pos, "either", aboutUnknownLock)
	} else {
		d.sync(m.s, op, lock, m.pos)
	}
	m.finish(KNil{})
	return true, false
}

// tryLock either locks or does not; that it fails only while the lock is held is not followed.
func (d *Driver) tryLock(m *modelled) bool {
	d.operation(m.pos)
	op := "lock"
	if strings.HasSuffix(m.name, "TryRLock") {
		op = "rlock"
	}
	lock, ok := d.lockAt(m.s, m.arg(0))
	reg, isCall := m.site.(*ssa.Call)
	if !ok || !isCall {
		d.assume(m.pos, "either", aboutUnknownLock)
		m.finish(d.unknown(m.s, here(m.s.top()), m.site, nil))
		return false
	}
	if n, known := m.s.count(lock.name); known {
		free := n == 0 || op == "rlock" && n > 0
		if free {
			d.sync(m.s, op, lock, m.pos)
		}
		m.s.top().regs[reg] = KBool(free)
		return false
	}
	d.assume(m.pos, "over", aboutTryLock)
	then := d.fork(m.s, func(t *State) {
		d.put(&Code{op: opSync, note: op, on: lock, pos: m.pos})
		t.top().regs[reg] = KBool(true)
	})
	otherwise := d.fork(m.s, func(t *State) { t.top().regs[reg] = KBool(false) })
	d.put(&Code{op: opChoose, pos: m.pos, arms: []*Code{then, otherwise}, lossy: true})
	return true
}

func (d *Driver) waitGroupModels(m *modelled) (bool, bool) {
	switch m.name {
	case "(*sync.WaitGroup).Add", "(*sync.WaitGroup).Done", "(*sync.WaitGroup).Wait", "(*sync.WaitGroup).Go":
	default:
		return false, false
	}
	d.operation(m.pos)
	m.finish(KNil{})
	group, ok := d.lockAt(m.s, m.arg(0))
	if !ok {
		d.assume(m.pos, "either", aboutUnknownWaitGroup)
		if strings.HasSuffix(m.name, "Go") {
			d.spawnCall(m.s, nil, m.arg(1), nil, nil, m.pos, m.site)
		}
		return true, false
	}
	switch m.name {
	case "(*sync.WaitGroup).Add":
		amount, ok := scalar(m.arg(1))
		if !ok {
			amount = &Expr{op: "int", n: 1}
			d.assume(m.pos, "either", aboutUnknownAmount)
		}
		recoverable := d.isRecoverable(m.s)
		n, known := m.s.count(group.name)
		known = known && amount.op == "int"
		if recoverable && known && n+amount.n < 0 {
			return true, d.panics(m.s, Ifc{types.Typ[types.String], KStr("sync: negative WaitGroup counter")}, m.pos)
		}
		d.put(&Code{op: opAdd, on: group, expr: amount, pos: m.pos}).recovered = recoverable && !known
		if amount.op == "int" {
			m.s.counts(group.name, amount.n)
		} else {
			m.s.uncounted(group.name)
		}
	case "(*sync.WaitGroup).Done":
		if n, known := m.s.count(group.name); known && n == 0 && d.isRecoverable(m.s) {
			return true, d.panics(m.s, Ifc{types.Typ[types.String], KStr("sync: negative WaitGroup counter")}, m.pos)
		}
		d.sync(m.s, "done", group, m.pos)
	case "(*sync.WaitGroup).Wait":
		d.put(&Code{op: opSync, note: "wait", on: group, pos: m.pos})
	case "(*sync.WaitGroup).Go":
		d.put(&Code{op: opAdd, on: group, expr: &Expr{op: "int", n: 1}, pos: m.pos})
		d.spawnCall(m.s, nil, m.arg(1), nil, []After{{"done", []Value{Ref{group.name}}, m.pos}}, m.pos, m.site)
	}
	return true, false
}

// later calls a function value next, before anything else: it is pushed on a state that may belong
// to a fork.
func (d *Driver) later(s *State, f Value, after []After, pos token.Pos) {
	switch f := f.(type) {
	case Clo:
		depth := 0
		for _, frame := range s.frames {
			if frame.fn == f.fn {
				depth++
			}
		}
		if depth >= d.limits.depth {
			d.callRecursive(s, deferredSite, Target{f.fn, nil}, f.bind, pos, true)
			if len(after) > 0 {
				s.frames = append(s.frames, d.outside(s, after))
			}
			return
		}
		if len(f.fn.Blocks) > 0 {
			context := d.context(s.top().context, f.fn, fmt.Sprintf("later %d", pos))
			frame := d.frame(f.fn, nil, f.bind, deferredSite, context)
			frame.after, frame.deferred, frame.at = after, true, pos
			s.frames = append(s.frames, frame)
			return
		}
		// A function without source: run it as the only deferred call of an empty frame.
		s.frames = append(s.frames, d.outside(s, after, Deferred{fn: f, pos: pos}))
		return
	case Model:
		s.frames = append(s.frames, d.outside(s, after, Deferred{fn: f, pos: pos}))
		return
	}
	d.assume(pos, "either", aboutUnknownFunction)
	if len(after) > 0 {
		s.frames = append(s.frames, d.outside(s, after))
	}
}

// outside is a frame for calls that have no source: they are its deferred calls.
func (d *Driver) outside(s *State, after []After, calls ...Deferred) *Frame {
	fn := s.top().fn
	return &Frame{
		fn: fn, block: fn.Blocks[0], regs: map[ssa.Value]Value{}, site: deferredSite, deferred: true,
		context: s.top().context, after: after, decided: map[*ssa.BasicBlock]bool{}, mode: "outside",
		defers: calls,
	}
}

// afterwards does what a model asked for when the function it called has returned.
func (d *Driver) afterwards(s *State, after After, result Value) bool {
	switch after.what {
	case "done":
		d.put(&Code{op: opSync, note: "done", on: variable(after.args[0].(Ref).object), pos: after.pos})
	case "once":
		d.afterOnce(s, after, result, s.top().mode == "left")
	case "woken":
		return d.woken(s, after)
	case "printed", "marshalled":
		return d.afterMethod(s, after, result, false)
	case "errgroup":
		return d.errgroupDone(s, after, result)
	case "coroutine":
		d.endCoroutine(after)
	case "released":
		// The next text is written into the memory of the last one.
		for _, v := range after.args {
			if name, ok := objectOf(v); ok {
				d.disturbObject(s, name)
			}
		}
	case "maprange":
		return d.ranged(s, after, result)
	case "testend", "subtestend":
		d.afterTest(s, after)
	case "call", "cancelcontext":
		d.later(s, after.args[0], nil, after.pos)
	}
	return false
}
