package main

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// advance performs one instruction. It tells whether the code being written has come to an end.
func (d *Driver) advance(s *State) bool {
	if len(s.frames) > 0 {
		d.skipInit(s)
	}
	d.steps++
	if d.steps > d.limits.steps {
		d.full = true
		return false
	}
	if len(s.frames) == 0 {
		d.put(&Code{op: opEnd})
		return true
	}
	f := s.top()
	if f.mode != "" {
		return d.unwind(s)
	}
	if f.block == nil || f.pc >= len(f.block.Instrs) {
		return d.leave(s, KNil{})
	}
	instr := f.block.Instrs[f.pc]
	f.pc++
	d.current = s
	if d.drops(s, instr) {
		return false
	}
	if isUnsafe(instr) {
		for _, operand := range instr.Operands(nil) {
			if *operand != nil {
				d.exposes(s, d.value(s, *operand))
			}
		}
	}
	if tag, found := d.unresolved(s, instr); found {
		f.pc--
		return d.split(s, tag)
	}
	if f.sure {
		f.sure = false
	} else if failed, end := d.checks(s, instr); failed {
		return end
	}
	switch i := instr.(type) {
	case *ssa.DebugRef:
	case *ssa.Jump:
		return d.jump(s, f.block.Succs[0])
	case *ssa.If:
		return d.branch(s, i)
	case *ssa.Return:
		if len(f.defers) > 0 {
			// Calls that the body of a range over a function has deferred. They may change named results.
			f.pc = beforeResults(f.block, f.pc-1)
			return d.runDeferred(s)
		}
		return d.returns(s, i)
	case *ssa.RunDefers:
		if len(f.defers) > 0 {
			f.pc--
			return d.runDeferred(s)
		}
	case *ssa.Panic:
		return d.panics(s, d.value(s, i.X), i.Pos())
	case *ssa.Go:
		return d.spawn(s, i)
	case *ssa.Defer:
		fn, args := d.operands(s, &i.Call)
		d.deferTo(s, i).defers = append(d.deferTo(s, i).defers, Deferred{&i.Call, fn, args, i.Pos()})
	case *ssa.Send:
		return d.send(s, i)
	case *ssa.Select:
		return d.selects(s, i)
	case *ssa.Call:
		fn, args := d.operands(s, &i.Call)
		end := d.call(s, i, &i.Call, fn, args, i.Pos())
		if !end && len(s.frames) > 0 && s.top() == f {
			d.want(s, i, f.regs[i])
		}
		return end
	case *ssa.Store:
		address, v := d.value(s, i.Addr), d.value(s, i.Val)
		if _, known := address.(Ptr); !known {
			if aliasable(address) {
				d.storeStrays(i)
			}
			d.storeSomewhere(s, address, v, i.Val.Type(), i.Pos())
			return false
		}
		d.store(s, address, v, i.Pos())
	case *ssa.MapUpdate:
		d.updateMap(s, d.value(s, i.Map), d.value(s, i.Key), d.value(s, i.Value), i.Map.Type(), i.Pos())
	case *ssa.UnOp:
		if i.Op == token.ARROW {
			return d.receive(s, i)
		}
		f.regs[i] = d.unary(s, i)
		if i.Op != token.MUL {
			d.want(s, i, f.regs[i])
		}
	case *ssa.Lookup:
		if name, ok := d.sharedMap(s, d.value(s, i.X)); ok {
			if done, end := d.sharedLookup(s, i, name); done {
				return end
			}
		}
		f.regs[i] = d.compute(s, i)
	case *ssa.Next:
		if iter, ok := d.value(s, i.Iter).(Iter); ok {
			if name, ok := d.sharedMap(s, iter.of); ok {
				return d.sharedNext(s, i, name, iter)
			}
		}
		return d.next(s, i)
	case *ssa.BinOp:
		if d.narrow(s, i) {
			return true
		}
		f.regs[i] = d.compute(s, i)
		d.want(s, i, f.regs[i])
	case ssa.Value:
		v := d.compute(s, i)
		d.want(s, instr, v)
		if model, ok := v.(Model); ok && model.name == "oneof" {
			return d.oneOf(s, i, model.args[0].(Slc))
		}
		f.regs[i] = v
	}
	return false
}

// beforeResults is where the named results of a function are read that the instruction at an index returns.
func beforeResults(b *ssa.BasicBlock, at int) int {
	results := b.Parent().Signature.Results()
	for at > 0 {
		load, ok := b.Instrs[at-1].(*ssa.UnOp)
		if !ok || load.Op != token.MUL {
			break
		}
		variable, ok := load.X.(*ssa.Alloc)
		if !ok || !variable.Pos().IsValid() {
			break
		}
		isResult := false
		for result := range results.Variables() {
			isResult = isResult || result.Pos() == variable.Pos()
		}
		if !isResult {
			break
		}
		at--
	}
	return at
}

// dropped stands for data that decides nothing.
var dropped = Sym{"«dropped»"}

// drops performs an instruction that only deals with data that decides nothing.
func (d *Driver) drops(s *State, instr ssa.Instruction) bool {
	relevance := d.world.relevance
	switch i := instr.(type) {
	case *ssa.Store:
		if !relevance.dropsStore(i) {
			return false
		}
		danger, _ := d.fails(s, i)
		return danger != certain
	case *ssa.BinOp, *ssa.Convert, *ssa.MultiConvert, *ssa.UnOp, *ssa.Field, *ssa.Index:
		v := instr.(ssa.Value)
		if !relevance.drops(v) {
			return false
		}
		if load, ok := i.(*ssa.UnOp); ok && load.Op == token.ARROW {
			return false
		}
		if danger, _ := d.fails(s, instr); danger != safe {
			return false
		}
		s.top().regs[v] = dropped
		return true
	}
	return false
}

// deferTo is the call whose end a deferred call waits for: not the innermost one in the body of a
// range over a function.
func (d *Driver) deferTo(s *State, i *ssa.Defer) *Frame {
	if i.DeferStack != nil {
		if stack, ok := d.value(s, i.DeferStack).(Model); ok && stack.name == "deferstack" {
			if index := int(stack.args[0].(KInt)); index < len(s.frames) {
				return s.own(index)
			}
		}
		d.assume(i.Pos(), "either", aboutUnknownDefer)
	}
	return s.top()
}

// oneOf chooses the element that an unknown index means.
func (d *Driver) oneOf(s *State, reg ssa.Value, of Slc) bool {
	var arms []*Code
	for n := 0; n < of.n; n++ {
		arms = append(arms, d.fork(s, func(t *State) {
			t.top().regs[reg] = Ptr{of.object, sub(of.path, of.low+n)}
		}))
	}
	d.put(&Code{op: opChoose, pos: reg.Pos(), arms: arms, lossy: true})
	return true
}

// value is what is known of an operand.
func (d *Driver) value(s *State, v ssa.Value) Value {
	switch v := v.(type) {
	case *ssa.Const:
		return constantValue(v)
	case *ssa.Function:
		return Clo{fn: v}
	case *ssa.Global:
		return d.global(s, v)
	case *ssa.Builtin:
		return KNil{}
	}
	if known, ok := s.top().regs[v]; ok && known != nil {
		return known
	}
	return d.unknown(s, here(s.top()), v, v.Type())
}

func constantValue(c *ssa.Const) Value {
	if c.Value == nil {
		switch c.Type().Underlying().(type) {
		case *types.Struct, *types.Array:
			return zeroPlain(c.Type())
		}
		if basic, ok := c.Type().Underlying().(*types.Basic); ok {
			return zeroBasic(basic)
		}
		return KNil{}
	}
	switch c.Value.Kind() {
	case constant.Bool:
		return KBool(constant.BoolVal(c.Value))
	case constant.String:
		return KStr(constant.StringVal(c.Value))
	}
	basic, ok := c.Type().Underlying().(*types.Basic)
	switch {
	case !ok:
	case basic.Info()&types.IsInteger != 0:
		if n, exact := constant.Int64Val(c.Value); exact {
			return KInt(n)
		}
		if n, exact := constant.Uint64Val(c.Value); exact {
			return KInt(int64(n))
		}
	case basic.Info()&types.IsFloat != 0:
		x, _ := constant.Float64Val(constant.ToFloat(c.Value))
		return roundFloat(x, basic)
	}
	if ok && basic.Info()&types.IsComplex != 0 {
		re, _ := constant.Float64Val(constant.Real(c.Value))
		im, _ := constant.Float64Val(constant.Imag(c.Value))
		return complexValue(re, im)
	}
	return KOther(c.Value.ExactString())
}

// complexValue is a complex number that is known: both its zeros are one.
func complexValue(re, im float64) Value { return KOther(fmt.Sprintf("%v %v", re+0, im+0)) }

func zeroBasic(basic *types.Basic) Value {
	switch {
	case basic.Info()&types.IsBoolean != 0:
		return KBool(false)
	case basic.Info()&types.IsInteger != 0:
		return KInt(0)
	case basic.Info()&types.IsFloat != 0:
		return KFloat(0)
	case basic.Info()&types.IsString != 0:
		return KStr("")
	case basic.Kind() == types.UnsafePointer || basic.Kind() == types.UntypedNil:
		return KNil{}
	}
	return complexValue(0, 0)
}

// zeroPlain is the zero of a type without anything that goroutines meet at.
func zeroPlain(t types.Type) Value {
	if lockKind(t) == "atomic" {
		return Agg{[]Value{atomicZero(t)}}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		elems := make([]Value, u.NumFields())
		for i := range elems {
			elems[i] = zeroPlain(u.Field(i).Type())
		}
		return Agg{elems}
	case *types.Array:
		if u.Len() > mostElements(u.Elem()) {
			return Sym{"«?»"}
		}
		elems := make([]Value, u.Len())
		for i := range elems {
			elems[i] = zeroPlain(u.Elem())
		}
		return Agg{elems}
	case *types.Basic:
		return zeroBasic(u)
	}
	return KNil{}
}

// mostRounds is how many rounds of loops a call may perform without a node.
const mostRounds = 3000

// jump goes to a block: phis take their values, and where ways meet a node begins.
func (d *Driver) jump(s *State, to *ssa.BasicBlock) bool {
	f := s.top()
	from := f.block
	loops := d.loopsIn(f.fn)
	for header := range f.decided {
		if body := loops.body[header]; body[from] && !body[to] {
			delete(f.decided, header)
		}
	}
	phis(d, s, from, to)
	back := loops.body[to] != nil && to.Dominates(from)
	f.block = to
	f.pc = 0
	for f.pc < len(to.Instrs) {
		if _, ok := to.Instrs[f.pc].(*ssa.Phi); !ok {
			break
		}
		f.pc++
	}
	if len(to.Preds) < 2 {
		return false
	}
	limit := d.limits.states
	if loops.body[to] != nil {
		decided := back && f.decided[to]
		if decided || !back {
			// The first round must not use up what the others need.
			limit = d.limits.unroll
		}
		delete(f.decided, to)
		if decided && !s.forked && d.emitted == s.begun && f.rounds < mostRounds {
			// A round that is decided and leaves no trace is performed, and that is all.
			f.rounds++
			return false
		}
		return d.meet(s, limit)
	}
	if !s.forked {
		// No other way leads here.
		return false
	}
	for header := range f.decided {
		if loops.body[header][to] {
			limit = max(limit, d.limits.unroll/8)
		}
	}
	return d.meet(s, limit)
}

func phis(d *Driver, s *State, from, to *ssa.BasicBlock) {
	f := s.top()
	index := -1
	for i, pred := range to.Preds {
		if pred == from {
			index = i
		}
	}
	var values []Value
	for _, instr := range to.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		if index >= 0 {
			values = append(values, d.value(s, phi.Edges[index]))
		}
	}
	for i, v := range values {
		phi := to.Instrs[i].(*ssa.Phi)
		if d.world.relevance.drops(phi) {
			v = dropped
		}
		f.regs[phi] = v
	}
}

// meet ends the code being written at a node, which may be there already.
func (d *Driver) meet(s *State, limit int) bool {
	f := s.top()
	node, subst := d.arrive(s, f.fn.Name(), blockPos(f.block), limit)
	d.put(&Code{op: opGoto, node: node, subst: subst, pos: blockPos(f.block)})
	return true
}

func blockPos(b *ssa.BasicBlock) token.Pos {
	for _, instr := range b.Instrs {
		if instr.Pos() != token.NoPos {
			return instr.Pos()
		}
	}
	return b.Parent().Pos()
}
