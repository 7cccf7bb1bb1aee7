package main

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/ssa"
)

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
	if len(exits) > 0 || d.leavesSilent(s) {
		if left, end := d.giveUp(s, fromOutside(key)); left {
			return end
		}
	}
	if skipped, end := d.skip(s, block); skipped {
		return end
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
	d.put(&Code{op: opChoose, pos: pos, arms: []*Code{then, otherwise}, lossy: !isFree(key)})
	return true
}

// isFree tells conditions about data from outside that may be true or false. One that is about the
// same data twice may be always true.
func isFree(key string) bool {
	seen := map[string]bool{}
	once := true
	eachUnknown(key, func(token string) bool {
		once = once && !seen[token]
		seen[token] = true
		return true
	})
	return once && fromOutside(key)
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
