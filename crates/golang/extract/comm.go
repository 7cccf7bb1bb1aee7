package main

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// end is one end of a channel operation: what the program operates on.
type end struct {
	expr    *Expr
	object  *Object
	unknown bool // the channel is not followed
	timer   bool // it may be ready at any moment
}

// endOf finds the channel that a value is.
func (d *Driver) endOf(s *State, v Value) end {
	switch v := v.(type) {
	case KNil:
		return end{expr: &Expr{op: "nil"}}
	case Ref:
		o := s.heap[v.object]
		if o == nil {
			return end{unknown: true}
		}
		if o.kind == "timer" {
			return end{timer: true, object: o}
		}
		return end{expr: variable(v.object), object: o}
	}
	return end{unknown: true}
}

// message is what the program sends for a value, and what receivers may then know.
func (d *Driver) message(s *State, to end, v Value, pos token.Pos) *Expr {
	if to.object == nil {
		return &Expr{op: "unit"}
	}
	messages := d.messages(to.object.key)
	d.escape(s, v)
	messages.join(d, s, v, to.object.typ)
	messages = messages.find()
	expr, ok := messages.encode(d, s, v)
	if messages.lost && !messages.usesTable() {
		d.assume(pos, "either", aboutSeveralInMessage)
	}
	if !ok && expr != nil {
		// A number that is not known: receivers must not rely on any.
		d.blur(messages)
		return expr
	}
	if hole, carries := messages.hole(); expr == nil && carries && hole.kind == "cell" {
		// The sender does not have the cell: what it stands for is not followed.
		d.abstract(hole.key)
		d.blur(messages)
		return &Expr{op: "unit"}
	}
	if expr == nil {
		d.assume(pos, "either", aboutUnknownLock)
		d.blur(messages)
		return &Expr{op: "unit"}
	}
	return expr
}

// blur forgets what is carried by messages.
func (d *Driver) blur(m *Messages) {
	count := 0
	shape := fillHoles(m.shape, &count, -1)
	if !equal(shape, m.shape) {
		m.set(shape)
		d.changed = true
	}
}

func (d *Driver) send(s *State, i *ssa.Send) bool {
	d.operation(i.Pos())
	to := d.endOf(s, d.value(s, i.Chan))
	v := d.value(s, i.X)
	if to.unknown || to.timer {
		d.assume(i.Pos(), "either", aboutUnknownSend)
		if containsConcurrency(s, v) {
			d.escape(s, v)
		}
		return false
	}
	recoverable := d.isRecoverable(s)
	open, known := s.isOpen(to.expr.name)
	if recoverable && known && !open {
		return d.panics(s, d.runtimeError("send on closed channel"), i.Pos())
	}
	d.put(&Code{op: opPut, on: to.expr, expr: d.message(s, to, v, i.Pos()), pos: i.Pos()}).recovered = recoverable && !known
	s.sent(to)
	return false
}

// sent notes that a message is in the buffer of a channel that no other goroutine sees.
func (s *State) sent(to end) {
	if n, ok := s.count(to.expr.name); ok && to.object != nil && n < int64(to.object.room) {
		s.counts(to.expr.name, 1)
	}
}

// took notes that a message was taken from the buffer of a channel that no other goroutine sees.
func (s *State) took(from end) {
	if n, ok := s.count(from.expr.name); ok && n > 0 {
		s.counts(from.expr.name, -1)
	}
}

// received is the value a receive binds, and the code's variables for it.
func (d *Driver) received(s *State, from end, key string, t types.Type, c *Code, commaOk bool) (Value, Value) {
	var v, ok Value = d.unknown(s, key, nil, t), KBool(true)
	if from.object != nil {
		name := d.scalarName(s, "x", key)
		messages := d.messages(from.object.key)
		v = messages.decode(d, s, name, key, t)
		if usesVariable(s, v, name) {
			c.name = name
		}
		ends := d.facts.closed[messages.find().key] && !zeroFits(messages, t)
		if commaOk || ends {
			c.ok = d.scalarName(s, "ok", key+"ok")
			d.kinds[c.ok] = "bool"
			ok = Dyn{variable(c.ok)}
		}
		if ends && t != nil {
			v = whenOpen(c.ok, v, zeroPlain(t))
		}
	}
	return v, ok
}

// zeroFits tells whether what a receiver makes of the zero that the program delivers from a closed
// channel is the zero of the type.
func zeroFits(m *Messages, t types.Type) bool {
	if m.usesTable() || m.shape == nil {
		return false
	}
	if hole, ok := m.shape.(Hole); ok {
		return hole.kind == "int" || hole.kind == "bool" || hole.kind == "chan"
	}
	return t == nil || equal(m.shape, zeroPlain(t))
}

// silent tells channels on which no goroutine is known to send: a receive from one goes on only if
// the channel is closed. Should a later run learn of a message, it follows the receive as well, and
// it has not met values of which only this run knows nothing.
func (d *Driver) silent(from end) bool {
	return from.object != nil && from.object.kind == "chan" && d.messages(from.object.key).shape == nil
}

// isClosed tells whether the channel is closed somewhere.
func (d *Driver) isClosed(from end) bool {
	return d.facts.closed[d.messages(from.object.key).key]
}

func (d *Driver) receive(s *State, i *ssa.UnOp) bool {
	d.operation(i.Pos())
	f := s.top()
	channel := d.value(s, i.X)
	from := d.endOf(s, channel)
	element := i.X.Type().Underlying().(*types.Chan).Elem()
	bind := func(t *State, v, ok Value) {
		if i.CommaOk {
			t.top().regs[i] = Tup{[]Value{v, ok}}
		} else {
			t.top().regs[i] = v
		}
	}
	key := here(f) + fmt.Sprintf("%p", i)
	if from.timer || from.unknown {
		if from.unknown {
			d.assume(i.Pos(), "either", aboutUnknownReceive)
		}
		var ok Value = KBool(true)
		if from.unknown && i.CommaOk {
			ok = d.unknown(s, key+"ok", nil, nil)
		}
		bind(s, d.unknown(s, key, nil, element), ok)
		return false
	}
	if isDone(from.object) {
		return d.receiveDone(s, i, channel, from, bind)
	}
	c := &Code{op: opGet, on: from.expr, pos: i.Pos()}
	if from.object == nil {
		// The channel is nil: this waits forever.
		d.put(c)
		d.put(&Code{op: opEnd})
		return true
	}
	if d.silent(from) {
		d.put(c)
		if !d.isClosed(from) {
			d.put(&Code{op: opEnd})
			return true
		}
		bind(s, zeroPlain(element), KBool(false))
		return false
	}
	v, ok := d.received(s, from, key, element, c, i.CommaOk)
	d.put(c)
	s.took(from)
	d.tickAgain(s, from)
	bind(s, v, ok)
	return false
}

// tickAgain puts back what was taken from a ticker: it ticks until it is stopped.
func (d *Driver) tickAgain(s *State, from end) {
	if from.object != nil && from.object.clock == "ticker" {
		d.put(&Code{op: opPut, on: from.expr, expr: &Expr{op: "unit"}})
		s.sent(from)
	}
}

// receiveDone waits for a context: its own end, that of an ancestor, or time.
func (d *Driver) receiveDone(s *State, i *ssa.UnOp, channel Value, from end, bind func(*State, Value, Value)) bool {
	var arms []*Code
	for _, c := range d.doneCases(s, channel, i.Pos()) {
		c.code.next = d.fork(s, func(t *State) { d.expire(t, c); bind(t, Agg{}, KBool(false)) })
		arms = append(arms, c.code)
	}
	d.put(&Code{op: opSelect, arms: arms, pos: i.Pos()})
	return true
}

// selects performs a select. A timer that has not fired yet may still be there when a select with a
// default looks: then it is as if that case were not there.
func (d *Driver) selects(s *State, i *ssa.Select) bool {
	d.operation(i.Pos())
	if !i.Blocking {
		for _, state := range i.States {
			if other := d.endOf(s, d.value(s, state.Chan)); other.object != nil && other.object.clock != "" {
				all := d.fork(s, func(t *State) { d.arms(t, i, true); t.frames = t.frames[:0] })
				early := d.fork(s, func(t *State) { d.arms(t, i, false); t.frames = t.frames[:0] })
				d.put(&Code{op: opChoose, pos: i.Pos(), arms: []*Code{all, early}})
				return true
			}
		}
	}
	return d.arms(s, i, true)
}

// arms writes the cases of a select, those of timers only if they are wanted.
func (d *Driver) arms(s *State, i *ssa.Select, clocks bool) bool {
	f := s.top()
	results := i.Type().(*types.Tuple)
	// The tuple: index, received ok, then one value for each receive.
	tuple := func(t *State, index int, ok, v Value, at int) Tup {
		elems := make([]Value, results.Len())
		elems[0], elems[1] = KInt(int64(index)), ok
		for k := 2; k < len(elems); k++ {
			elems[k] = zeroPlain(results.At(k).Type())
		}
		if at >= 0 {
			elems[at] = v
		}
		return Tup{elems}
	}
	var arms []*Code
	at := 2
	for index, state := range i.States {
		pos := state.Pos
		if pos == token.NoPos {
			pos = i.Pos()
		}
		channel := d.value(s, state.Chan)
		other := d.endOf(s, channel)
		if state.Dir == types.SendOnly {
			v := d.value(s, state.Send)
			if other.unknown || other.timer {
				d.assume(pos, "either", aboutUnknownCase)
				c := &Code{op: opTimeout, pos: pos}
				c.next = d.fork(s, func(t *State) { t.top().regs[i] = tuple(t, index, KBool(false), nil, -1) })
				arms = append(arms, c)
				continue
			}
			if other.object == nil {
				arms = append(arms, &Code{op: opPut, on: other.expr, expr: &Expr{op: "unit"}, pos: pos, next: &Code{op: opEnd}})
				continue
			}
			c := &Code{op: opPut, on: other.expr, expr: d.message(s, other, v, pos), pos: pos}
			c.next = d.fork(s, func(t *State) {
				t.sent(other)
				t.top().regs[i] = tuple(t, index, KBool(false), nil, -1)
			})
			arms = append(arms, c)
			continue
		}
		slot := at
		at++
		if !clocks && other.object != nil && other.object.clock != "" {
			continue
		}
		element := state.Chan.Type().Underlying().(*types.Chan).Elem()
		key := fmt.Sprintf("%s%p.%d", here(f), i, index)
		if other.unknown || other.timer {
			if other.unknown {
				d.assume(pos, "either", aboutUnknownCase)
			}
			c := &Code{op: opTimeout, pos: pos}
			c.next = d.fork(s, func(t *State) {
				t.top().regs[i] = tuple(t, index, KBool(other.timer), d.unknown(t, key, nil, element), slot)
			})
			arms = append(arms, c)
			continue
		}
		if isDone(other.object) {
			for _, c := range d.doneCases(s, channel, pos) {
				c.code.next = d.fork(s, func(t *State) {
					d.expire(t, c)
					t.top().regs[i] = tuple(t, index, KBool(false), zeroPlain(element), slot)
				})
				arms = append(arms, c.code)
			}
			continue
		}
		c := &Code{op: opGet, on: other.expr, pos: pos}
		if other.object == nil {
			// A case of a nil channel never happens.
			c.next = &Code{op: opEnd}
			arms = append(arms, c)
			continue
		}
		if d.silent(other) {
			c.next = &Code{op: opEnd}
			if d.isClosed(other) {
				c.next = d.fork(s, func(t *State) {
					t.top().regs[i] = tuple(t, index, KBool(false), zeroPlain(element), slot)
				})
			}
			arms = append(arms, c)
			continue
		}
		usesOk := usesOk(i)
		c.next = d.fork(s, func(t *State) {
			v, ok := d.received(t, other, key, element, c, usesOk)
			t.took(other)
			d.tickAgain(t, other)
			t.top().regs[i] = tuple(t, index, ok, v, slot)
		})
		arms = append(arms, c)
	}
	if !i.Blocking {
		c := &Code{op: opDefault, pos: i.Pos()}
		c.next = d.fork(s, func(t *State) { t.top().regs[i] = tuple(t, -1, KBool(false), nil, -1) })
		arms = append(arms, c)
	}
	if i.Blocking && len(arms) == 0 {
		d.put(&Code{op: opSelect, pos: i.Pos()})
		return true
	}
	d.put(&Code{op: opSelect, arms: arms, pos: i.Pos()})
	return true
}

// usesOk tells whether a select's second result is looked at.
func usesOk(i *ssa.Select) bool {
	for _, ref := range *i.Referrers() {
		if e, ok := ref.(*ssa.Extract); ok && e.Index == 1 {
			return true
		}
	}
	return false
}

// spawn starts a goroutine.
func (d *Driver) spawn(s *State, i *ssa.Go) bool {
	d.operation(i.Pos())
	fn, args := d.operands(s, &i.Call)
	d.spawnCall(s, &i.Call, fn, args, nil, i.Pos(), i)
	return false
}

// spawnCall starts a goroutine that calls a function and then does what a model asks for.
func (d *Driver) spawnCall(s *State, call *ssa.CallCommon, fn Value, args []Value, after []After, pos token.Pos, site any) {
	d.escape(s, Tup{append(append([]Value{fn}, args...), afterValues(after)...)})
	for _, name := range s.globals() {
		d.escape(s, Ptr{name, ""})
	}
	s.escaped["*"] = true
	if call != nil {
		if _, builtin := call.Value.(*ssa.Builtin); builtin {
			d.spawnOutside(s, Deferred{call: call, args: args, pos: pos}, after, pos)
			return
		}
	}
	target, bind, ok := d.resolve(s, call, fn, args)
	if !ok || target.fn == nil || len(target.fn.Blocks) == 0 {
		if model, isModel := fn.(Model); isModel || ok && target.fn != nil {
			d.spawnModel(s, call, model, target, args, after, pos)
			return
		}
		d.assume(pos, "either", aboutUnknownGoroutine)
		return
	}
	child := s.clone()
	child.root = fmt.Sprintf("go %p", target.fn)
	if child.daemon = s.daemon || s.initialising(); child.daemon {
		child.root += " daemon"
	}
	if len(after) > 0 {
		child.root += after[0].what
	}
	child.multi = s.multi
	if d.repeats(s) && d.instances[child.root] > d.limits.roots {
		child.multi = true
	}
	d.instances[child.root]++
	d.startedAgain(s, child.root)
	context := d.context(0, target.fn, child.root+after0(after))
	frame := d.frame(target.fn, target.args, bind, nil, context)
	frame.after, frame.at = after, pos
	child.frames = []*Frame{frame}
	name := target.fn.Name()
	node, subst := d.arrive(child, name, target.fn.Pos(), d.limits.roots)
	d.put(&Code{op: opSpawn, node: node, subst: subst, pos: pos, runs: target.fn})
}

// startedAgain notes that there may be several goroutines of a root.
func (d *Driver) startedAgain(s *State, root string) {
	if (d.instances[root] > 1 || d.repeats(s)) && !d.facts.many[root] {
		d.facts.many[root] = true
		d.changed = true
	}
}

// initialising tells whether package variables are being set and init functions run.
func (s *State) initialising() bool {
	for _, f := range s.frames {
		if f.fn.Synthetic == "package initializer" {
			return true
		}
	}
	return false
}

func after0(after []After) string {
	if len(after) == 0 {
		return ""
	}
	return after[0].what
}

func afterValues(after []After) []Value {
	var out []Value
	for _, a := range after {
		out = append(out, a.args...)
	}
	return out
}
