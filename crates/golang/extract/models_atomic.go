package main

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// atomicModels: sync/atomic reads and writes shared memory as other code does, in one step.
func (d *Driver) atomicModels(m *modelled) (bool, bool) {
	operation, path := "", ""
	if rest, ok := strings.CutPrefix(m.name, "sync/atomic."); ok {
		for _, prefix := range []string{"Load", "Store", "Add", "And", "Or", "CompareAndSwap", "Swap"} {
			if strings.HasPrefix(rest, prefix) {
				operation = prefix
				break
			}
		}
	} else if rest, ok := strings.CutPrefix(m.name, "(*sync/atomic."); ok {
		operation = rest[strings.Index(rest, ").")+2:]
		path = "/0"
	}
	p, ok := m.arg(0).(Ptr)
	if operation == "" || !ok {
		if operation != "" {
			if operation != "Load" && aliasable(m.arg(0)) {
				d.havocBehind(m.s, firstParameter(m.fn))
			}
			d.finishUnknown(m)
			return true, false
		}
		return false, false
	}
	p.path += path
	if strings.HasPrefix(m.name, "(*sync/atomic.Value).") && operation != "Load" {
		if message := d.refuses(m, p); message != "" {
			return true, d.panics(m.s, Ifc{types.Typ[types.String], KStr(message)}, m.pos)
		}
	}
	t := d.atomicType(m)
	switch operation {
	case "Load":
		m.finish(d.loadAt(m, p, t))
	case "Store":
		d.store(m.s, p, m.arg(1), m.pos)
		m.finish(KNil{})
	case "Swap":
		d.atomicSwap(m, p, t)
	case "Add":
		return true, d.atomicAdd(m, p, t)
	case "CompareAndSwap":
		return true, d.compareAndSwap(m, p, t)
	case "And", "Or":
		op := token.AND
		if operation == "Or" {
			op = token.OR
		}
		old := d.loadAt(m, p, t)
		basic, _ := m.fn.Signature.Results().At(0).Type().Underlying().(*types.Basic)
		if v, ok := constants(op, old, m.arg(1), basic); ok {
			d.store(m.s, p, v, m.pos)
			m.finish(old)
			break
		}
		d.weakenAt(m.s, p)
		d.finishUnknown(m)
	default:
		d.weakenAt(m.s, p)
		d.finishUnknown(m)
	}
	return true, false
}

// firstParameter is the type of the receiver of a function, or of its first parameter.
func firstParameter(fn *ssa.Function) types.Type {
	if recv := fn.Signature.Recv(); recv != nil {
		return recv.Type()
	}
	return fn.Signature.Params().At(0).Type()
}

// refuses tells what an atomic.Value says to a value that it cannot hold: nil, or one of another type
// than those before.
func (d *Driver) refuses(m *modelled, p Ptr) string {
	operation := m.name[strings.LastIndex(m.name, ".")+1:]
	in := strings.ToLower(operation[:1]) + operation[1:]
	if operation == "CompareAndSwap" {
		in = "compare and swap"
	}
	v := m.args[len(m.args)-1]
	if isNil(v) {
		return "sync/atomic: " + in + " of nil value into Value"
	}
	now, ok := v.(Ifc)
	if !ok || now.typ == nil {
		return ""
	}
	if old, ok := m.args[1].(Ifc); ok && operation == "CompareAndSwap" && old.typ != nil && !types.Identical(old.typ, now.typ) {
		return "sync/atomic: " + in + " of inconsistently typed values"
	}
	o := m.s.heap[p.object]
	if o == nil || o.kind != "memory" {
		return ""
	}
	held, _ := at(o.value, p.path)
	before, ok := held.(Ifc)
	if ok && before.typ != nil && !types.Identical(before.typ, now.typ) {
		return "sync/atomic: " + in + " of inconsistently typed value into Value"
	}
	return ""
}

// refusesPerhaps tells whether an atomic.Value that goroutines share may hold a value of another type
// than the one that is stored.
func (d *Driver) refusesPerhaps(s *State, callee *ssa.Function, args []ssa.Value) bool {
	switch functionName(callee) {
	case "(*sync/atomic.Value).Store", "(*sync/atomic.Value).Swap", "(*sync/atomic.Value).CompareAndSwap":
	default:
		return false
	}
	p, ok := d.value(s, args[0]).(Ptr)
	if !ok {
		return true
	}
	cell, ok := d.cellAt(s, Ptr{p.object, p.path + "/0"})
	if !ok {
		return false
	}
	now, ok := d.value(s, args[len(args)-1]).(Ifc)
	held := d.messages(s.heap[cell].key)
	for _, row := range held.rows {
		if before, isIfc := row.value.(Ifc); isIfc && ok && now.typ != nil && before.typ != nil && types.Identical(before.typ, now.typ) {
			continue
		}
		if !isNil(row.value) {
			return true
		}
	}
	if before, isIfc := held.shape.(Ifc); isIfc && held.open {
		return !ok || now.typ == nil || before.typ == nil || !types.Identical(before.typ, now.typ)
	}
	return held.open
}

// weakenAt makes what a pointer points to unknown.
func (d *Driver) weakenAt(s *State, p Ptr) {
	if o := s.heap[p.object]; o != nil {
		if v, ok := at(o.value, p.path); ok {
			d.weaken(s, p.object, p.path, v, nil)
		}
	}
}

func (d *Driver) finishUnknown(m *modelled) {
	results := m.fn.Signature.Results()
	var t types.Type
	if results.Len() == 1 {
		t = results.At(0).Type()
	}
	m.finish(d.unknown(m.s, here(m.s.top()), m.site, t))
}

// atomicType is the type of the value behind an atomic operation.
func (d *Driver) atomicType(m *modelled) types.Type {
	if call, ok := m.site.(*ssa.Call); ok {
		if _, isTuple := call.Type().(*types.Tuple); !isTuple {
			return call.Type()
		}
	}
	return nil
}

func (d *Driver) loadAt(m *modelled, p Ptr, t types.Type) Value {
	o := m.s.heap[p.object]
	if o == nil || o.kind != "memory" {
		return d.unknown(m.s, here(m.s.top()), m.site, t)
	}
	v, ok := at(o.value, p.path)
	if !ok {
		return d.unknown(m.s, here(m.s.top()), m.site, t)
	}
	d.note(m.s, p.object, p.path, v, false)
	return d.mended(m.s, p.object, p.path, d.readCells(m.s, v, t, m.key(), m.pos), t, m.key())
}

// cellAt is the cell of a shared place, if it is followed.
func (d *Driver) cellAt(s *State, p Ptr) (string, bool) {
	o := s.heap[p.object]
	if o == nil {
		return "", false
	}
	part, _ := at(o.value, p.path)
	r, ok := part.(Ref)
	if o.typ != nil && s.escaped[p.object] && d.facts.torn[typeName(o.typ)+p.path] {
		// It may have been written to a copy.
		return "", false
	}
	if !ok || s.heap[r.object] == nil || s.heap[r.object].kind != "cell" {
		return "", false
	}
	return r.object, true
}

// atomicSwap stores a value and returns the one that was there, in one step.
func (d *Driver) atomicSwap(m *modelled, p Ptr, t types.Type) {
	v := m.arg(1)
	cell, ok := d.cellAt(m.s, p)
	if !ok || d.isRemembered(m.s, cell) {
		old := d.loadAt(m, p, t)
		d.store(m.s, p, v, m.pos)
		m.finish(old)
		return
	}
	d.wrote(m.s, cell)
	d.remembers(m.s, cell, nil)
	d.escape(m.s, v)
	o := m.s.heap[cell]
	messages := d.messages(o.key)
	messages.join(d, m.s, v, o.typ)
	expr, ok := messages.encode(d, m.s, v)
	if _, unknown := v.(Sym); unknown || !ok {
		if containsConcurrency(m.s, v) {
			d.assume(m.pos, "either", aboutLostStore)
		}
		d.abstract(o.key)
		d.finishUnknown(m)
		return
	}
	name := d.scalarName(m.s, "x", m.key())
	old := messages.decode(d, m.s, name, m.key(), o.typ)
	d.put(&Code{op: opCellUpdate, name: name, on: variable(cell), expr: expr, pos: m.pos})
	m.finish(old)
}

func (d *Driver) atomicAdd(m *modelled, p Ptr, t types.Type) bool {
	basic, _ := m.fn.Signature.Results().At(0).Type().Underlying().(*types.Basic)
	sum := func(old Value) Value {
		a, ok1 := old.(KInt)
		b, ok2 := m.arg(1).(KInt)
		if ok1 && ok2 {
			if basic != nil {
				return wrapInteger(int64(a+b), basic)
			}
			return a + b
		}
		left, ok1 := scalar(old)
		right, ok2 := scalar(m.arg(1))
		if ok1 && ok2 && (!m.s.multi || d.limits.scalars) {
			return Dyn{&Expr{op: "+", args: []*Expr{left, right}}}
		}
		return Sym{"«?»"}
	}
	cell, ok := d.cellAt(m.s, p)
	if !ok || d.isRemembered(m.s, cell) {
		v := sum(d.loadAt(m, p, t))
		if _, unknown := v.(Sym); unknown {
			v = d.unknown(m.s, m.key(), nil, t)
		}
		d.store(m.s, p, v, m.pos)
		m.finish(v)
		return false
	}
	d.wrote(m.s, cell)
	d.remembers(m.s, cell, nil)
	o := m.s.heap[cell]
	name := d.scalarName(m.s, "x", m.key())
	d.kinds[name] = "int"
	added := sum(Dyn{variable(name)})
	messages := d.messages(o.key)
	messages.join(d, m.s, added, o.typ)
	expr, ok := messages.encode(d, m.s, added)
	if !ok || messages.kind(d) != "int" || messages.usesTable() {
		d.abstract(o.key)
		m.finish(d.unknown(m.s, here(m.s.top()), m.site, t))
		return false
	}
	if _, _, narrow := rangeOf(basic); narrow {
		return d.atomicAddNarrow(m, cell, name, basic)
	}
	d.put(&Code{op: opCellUpdate, name: name, on: variable(cell), expr: expr, pos: m.pos})
	m.finish(added)
	return false
}

// atomicAddNarrow adds to a cell with a number of less than 64 bits, whose old value gets a name.
func (d *Driver) atomicAddNarrow(m *modelled, cell, name string, basic *types.Basic) bool {
	amount, _ := scalar(m.arg(1))
	ways, ok := wraps(token.ADD, variable(name), amount, basic)
	if !ok || len(ways) > 2 {
		d.abstract(m.s.heap[cell].key)
		d.finishUnknown(m)
		return false
	}
	swap := &Code{op: opCellSwap, name: name, on: variable(cell), test: ways[0].condition, expr: ways[0].result, last: ways[1].result, pos: m.pos}
	d.put(swap)
	if reg, isCall := m.site.(*ssa.Call); isCall && len(*reg.Referrers()) > 0 {
		d.branchOn(m.s, ways, reg)
		return true
	}
	return false
}

func (d *Driver) compareAndSwap(m *modelled, p Ptr, t types.Type) bool {
	cell, ok := d.cellAt(m.s, p)
	reg, isCall := m.site.(*ssa.Call)
	if !ok || d.isRemembered(m.s, cell) {
		same := d.compare(m.s, d.loadAt(m, p, nil), m.arg(1), false)
		if known, ok := same.(KBool); ok {
			if bool(known) {
				d.store(m.s, p, m.arg(2), m.pos)
			}
			m.finish(known)
			return false
		}
		if !isCall {
			return false
		}
		computed, isComputed := same.(Dyn)
		key, negated := conditionKey(same)
		outcome := func(t *State, truth bool) {
			if isComputed {
				d.settle(t, computed, truth)
			} else {
				t.learn(key, truth != negated)
			}
			if truth {
				d.store(t, p, m.arg(2), m.pos)
			}
			t.top().regs[reg] = KBool(truth)
		}
		then := d.fork(m.s, func(t *State) { outcome(t, true) })
		otherwise := d.fork(m.s, func(t *State) { outcome(t, false) })
		if isComputed {
			d.put(&Code{op: opIf, on: computed.expr, pos: m.pos, arms: []*Code{then, otherwise}})
		} else {
			d.put(&Code{op: opChoose, pos: m.pos, arms: []*Code{then, otherwise}, lossy: !fromOutside(key)})
		}
		return true
	}
	d.wrote(m.s, cell)
	d.remembers(m.s, cell, nil)
	o := m.s.heap[cell]
	messages := d.messages(o.key)
	messages.join(d, m.s, m.arg(2), o.typ)
	messages.join(d, m.s, m.arg(1), o.typ)
	kind := messages.kind(d)
	before, ok1 := scalar(m.arg(1))
	after, ok2 := scalar(m.arg(2))
	if messages.usesTable() && ok1 && ok2 {
		// Numbers and flags are equal if they are in the same row.
		before, ok1 = messages.encode(d, m.s, m.arg(1))
		after, ok2 = messages.encode(d, m.s, m.arg(2))
	}
	if !ok1 || !ok2 || kind != "int" && kind != "bool" {
		d.abstract(o.key)
		d.finishUnknown(m)
		return false
	}
	name := d.scalarName(m.s, "x", m.key())
	d.kinds[name] = kind
	same := &Expr{op: "==", args: []*Expr{variable(name), before}}
	d.put(&Code{op: opCellSwap, name: name, on: variable(cell), test: same, expr: after, pos: m.pos})
	m.finish(Dyn{same})
	return false
}
