package main

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

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
			// Calls that the body of a range over a function has deferred.
			f.pc--
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
	return KOther(c.Value.ExactString())
}

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
	return KOther("0")
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

// branch follows a condition, or both its sides when it is not known.
func (d *Driver) branch(s *State, i *ssa.If) bool {
	f := s.top()
	block := f.block
	condition := d.value(s, i.Cond)
	pos := i.Cond.Pos()
	if pos == token.NoPos {
		pos = blockPos(block)
	}
	exits := d.exitsOf(f.fn, block)
	switch c := condition.(type) {
	case KBool:
		for _, header := range exits {
			// In one of several ways, such as a case of a select, it is the way that decides.
			if !s.forked {
				f.decided[header] = true
			}
		}
		return d.jump(s, block.Succs[which(bool(c))])
	case Dyn:
		then := d.fork(s, func(t *State) { d.settle(t, c, true); d.arm(t, block.Succs[0]) })
		otherwise := d.fork(s, func(t *State) { d.settle(t, c, false); d.arm(t, block.Succs[1]) })
		d.put(&Code{op: opIf, on: c.expr, pos: pos, arms: []*Code{then, otherwise}})
		return true
	}
	key, negated := conditionKey(condition)
	if truth, known := s.lookup(key); known {
		return d.jump(s, block.Succs[which(truth != negated)])
	}
	if (d.limits.skip || len(exits) > 0) && d.giveUp(s, fromOutside(key)) || d.skip(s, block) {
		return false
	}
	for _, header := range exits {
		d.loops[header] = true
	}
	eachUnknown(key, func(token string) bool {
		if d.fromShared[token] {
			d.assume(pos, "over", aboutSharedData)
		}
		return true
	})
	then := d.fork(s, func(t *State) { t.learn(key, !negated); d.arm(t, block.Succs[0]) })
	otherwise := d.fork(s, func(t *State) { t.learn(key, negated); d.arm(t, block.Succs[1]) })
	d.put(&Code{op: opChoose, pos: pos, arms: []*Code{then, otherwise}, lossy: !fromOutside(key)})
	return true
}

// settle replaces a computed condition by its outcome.
func (d *Driver) settle(s *State, condition Dyn, truth bool) {
	e := condition.expr
	d.replace(s, e, KBool(truth))
	// x == n with a constant: x is n from here on.
	if (e.op == "==" && truth || e.op == "!=" && !truth) && e.args[0].op == "var" && e.args[1].op == "int" {
		d.replace(s, e.args[0], KInt(e.args[1].n))
	}
	if e.op == "!" {
		d.replace(s, e.args[0], KBool(!truth))
		e, truth = e.args[0], !truth
	}
	if e.op == "var" {
		// Whether a channel was open tells what was received.
		d.resolveTag(s, "ok "+e.name, which(truth))
	}
}

func (d *Driver) replace(s *State, e *Expr, by Value) {
	written := e.String()
	for i := range s.frames {
		for r, v := range s.frames[i].regs {
			if dyn, ok := v.(Dyn); ok && (dyn.expr == e || dyn.expr.String() == written) {
				s.own(i).regs[r] = by
			}
		}
	}
}

func which(condition bool) int {
	if condition {
		return 0
	}
	return 1
}

// arm makes a forked state go on at a block: the jump is performed by its run.
func (d *Driver) arm(s *State, to *ssa.BasicBlock) {
	f := s.top()
	f.mode = "jump"
	f.results = Iter{of: KNil{}, next: to.Index}
}

// exitsOf lists the headers of loops that the block's branch may leave.
func (d *Driver) exitsOf(fn *ssa.Function, b *ssa.BasicBlock) []*ssa.BasicBlock {
	var headers []*ssa.BasicBlock
	loops := d.loopsIn(fn)
	if !loops.all[b] {
		return nil
	}
	for header, body := range loops.body {
		if !body[b] {
			continue
		}
		for _, succ := range b.Succs {
			if !body[succ] {
				headers = append(headers, header)
			}
		}
	}
	return headers
}

func conditionKey(v Value) (string, bool) {
	id := "«?»"
	if sym, ok := v.(Sym); ok {
		id = sym.id
	}
	negated := false
	for len(id) > 0 && id[0] == '!' {
		id, negated = id[1:], !negated
	}
	return id, negated
}

// lookup tells whether an unknown condition has been met before.
func (s *State) lookup(key string) (truth, known bool) {
	if !isLasting(key) {
		return false, false
	}
	if truth, known = s.facts[key]; known {
		return truth, true
	}
	// x == a is known to be false when x == b is true.
	if left, _, ok := equation(key); ok {
		for fact, truth := range s.facts {
			if other, right, ok := equation(fact); ok && truth && other == left && !unknownText(right) {
				if _, mine, _ := equation(key); !unknownText(mine) && mine != right {
					return false, true
				}
			}
		}
	}
	return false, false
}

// isLasting tells conditions that mean the same when they are met again: not those about what has
// lost its identity, or about numbers of the program, whose names are used again.
func isLasting(key string) bool {
	return !strings.Contains(key, "?»") && !strings.Contains(key, "dyn")
}

func (s *State) learn(key string, truth bool) {
	if isLasting(key) {
		s.facts[key] = truth
	}
}

// returns ends a call by a return instruction.
func (d *Driver) returns(s *State, i *ssa.Return) bool {
	var result Value = KNil{}
	switch len(i.Results) {
	case 0:
	case 1:
		result = d.value(s, i.Results[0])
	default:
		elems := make([]Value, len(i.Results))
		for k, r := range i.Results {
			elems[k] = d.value(s, r)
		}
		result = Tup{elems}
	}
	return d.leave(s, result)
}

// leave takes the innermost call away and hands its result to the one below.
func (d *Driver) leave(s *State, result Value) bool {
	f := s.top()
	if len(f.after) > 0 {
		after := f.after[len(f.after)-1]
		f.after = f.after[:len(f.after)-1]
		f.results = result
		f.mode = "left"
		return d.afterwards(s, after, result)
	}
	s.frames = s.frames[: len(s.frames)-1 : len(s.frames)-1]
	if len(s.frames) == 0 {
		d.put(&Code{op: opEnd})
		return true
	}
	below := s.top()
	if call, ok := f.site.(*ssa.Call); ok && !f.deferred {
		below.regs[call] = result
	}
	// Different ways through a function come together where it was called.
	if len(f.fn.Blocks) > 1 && below.mode == "" && s.forked {
		return d.meet(s, d.limits.states*4)
	}
	return false
}

// unwind goes on with a call whose ordinary course is over.
func (d *Driver) unwind(s *State) bool {
	f := s.top()
	switch f.mode {
	case "jump":
		to := f.fn.Blocks[f.results.(Iter).next]
		f.mode, f.results = "", nil
		return d.jump(s, to)
	case "meet":
		f.mode = ""
		limit := d.limits.states
		if len(f.decided) > 0 {
			limit = d.limits.unroll
		}
		return d.meet(s, limit)
	case "left":
		f.mode = ""
		result := f.results
		f.results = nil
		return d.leave(s, result)
	case "recovered":
		f.mode = ""
		if len(f.defers) > 0 {
			f.mode = "recovered"
			return d.runDeferred(s)
		}
		if f.fn.Recover != nil {
			f.block, f.pc = f.fn.Recover, 0
			return false
		}
		return d.leave(s, d.zeroResults(f.fn))
	}
	// "outside", "panic" and "exit": deferred calls first, then the call below.
	if len(f.defers) > 0 {
		return d.runDeferred(s)
	}
	if mode := f.mode; mode == "panic" && len(f.after) > 0 {
		after := f.after[len(f.after)-1]
		f.after = f.after[:len(f.after)-1]
		if after.what == "recovers" {
			f.mode, f.panic = "", nil
			return d.leave(s, KNil{})
		}
		if after.what == "printed" {
			return d.afterMethod(s, after, nil, true)
		}
		if after.what == "once" {
			// A function that panics counts as called.
			d.afterOnce(s, after)
		}
		return false
	}
	mode := f.mode
	if mode == "outside" {
		f.mode = ""
		return d.leave(s, KNil{})
	}
	if len(f.after) > 0 && mode == "exit" {
		after := f.after[len(f.after)-1]
		f.after = f.after[:len(f.after)-1]
		switch after.what {
		case "subtest":
			f.mode = ""
			return d.leave(s, KNil{})
		case "printed", "marshalled":
			return false // the goroutine ends, and nothing is printed
		}
		return d.afterwards(s, after, KNil{})
	}
	s.frames = s.frames[: len(s.frames)-1 : len(s.frames)-1]
	if len(s.frames) == 0 {
		if mode == "panic" {
			d.put(&Code{op: opPanic, note: panicText(f.panic), pos: f.panicPos})
		} else {
			d.put(&Code{op: opEnd})
		}
		return true
	}
	below := s.top()
	below.mode, below.panic, below.panicPos = mode, f.panic, f.panicPos
	return false
}

func (d *Driver) zeroResults(fn *ssa.Function) Value {
	results := fn.Signature.Results()
	switch results.Len() {
	case 0:
		return KNil{}
	case 1:
		return zeroPlain(results.At(0).Type())
	}
	elems := make([]Value, results.Len())
	for i := range elems {
		elems[i] = zeroPlain(results.At(i).Type())
	}
	return Tup{elems}
}
