package main

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// The program computes with numbers of 64 bits. Where Go computes with fewer, the program looks
// whether the result fits and takes away as many times the width as are too many.

// mostPeriods is how often a result may exceed the width of its type.
const mostPeriods = 4

// rangeOf is the lowest and the highest number of an integer type of less than 64 bits.
func rangeOf(basic *types.Basic) (low, high int64, narrow bool) {
	if basic == nil {
		return 0, 0, false
	}
	switch basic.Kind() {
	case types.Int8:
		return -1 << 7, 1<<7 - 1, true
	case types.Int16:
		return -1 << 15, 1<<15 - 1, true
	case types.Int32:
		return -1 << 31, 1<<31 - 1, true
	case types.Uint8:
		return 0, 1<<8 - 1, true
	case types.Uint16:
		return 0, 1<<16 - 1, true
	case types.Uint32:
		return 0, 1<<32 - 1, true
	}
	return 0, 0, false
}

// wrapped is a result in one of the ways in which it may exceed the width of its type.
type wrapped struct {
	condition *Expr // nil for the last way, which is the one that remains
	result    *Expr
}

// wraps lists the ways in which the result of an operation may exceed the width of its type, beginning
// with the one that it does not.
func wraps(op token.Token, x, y *Expr, basic *types.Basic) ([]wrapped, bool) {
	low, high, narrow := rangeOf(basic)
	if !narrow {
		return nil, false
	}
	result := &Expr{op: op.String(), args: []*Expr{x, y}}
	above, below := int64(1), int64(1)
	switch op {
	case token.ADD:
		if low == 0 || isNumber(y) && y.n >= 0 {
			below = 0
		} else if isNumber(y) {
			above = 0
		}
	case token.SUB:
		if low == 0 || isNumber(y) && y.n >= 0 {
			above = 0
		} else if isNumber(y) {
			below = 0
		}
	case token.MUL:
		factor := y
		if isNumber(x) {
			factor = x
		}
		if !isNumber(factor) || factor.n > 2*mostPeriods || factor.n < -2*mostPeriods {
			return nil, false
		}
		above = max(factor.n, -factor.n) / 2
		below = above
		if low == 0 {
			above, below = max(factor.n-1, 0), 0
		}
		if above > mostPeriods {
			return nil, false
		}
	default:
		return nil, false
	}
	width := high - low + 1
	number := func(n int64) *Expr { return &Expr{op: "int", n: n} }
	var ways []wrapped
	for n := int64(0); n <= above; n++ {
		ways = append(ways, wrapped{&Expr{op: "<=", args: []*Expr{result, number(high + n*width)}}, shifted(result, -n*width)})
	}
	if below > 0 {
		// What is not too low either; then the others.
		ways[0].condition = &Expr{op: "&&", args: []*Expr{{op: ">=", args: []*Expr{result, number(low)}}, ways[0].condition}}
		for i := 1; i < len(ways); i++ {
			ways[i].condition = &Expr{op: "&&", args: []*Expr{{op: ">", args: []*Expr{result, number(high)}}, ways[i].condition}}
		}
		for n := int64(1); n <= below; n++ {
			ways = append(ways, wrapped{&Expr{op: ">=", args: []*Expr{result, number(low - n*width)}}, shifted(result, n*width)})
		}
	}
	ways[len(ways)-1].condition = nil
	return ways, true
}

func isNumber(e *Expr) bool { return e.op == "int" }

// shifted is an expression plus a number.
func shifted(e *Expr, by int64) *Expr {
	switch {
	case by > 0:
		return &Expr{op: "+", args: []*Expr{e, {op: "int", n: by}}}
	case by < 0:
		return &Expr{op: "-", args: []*Expr{e, {op: "int", n: -by}}}
	}
	return e
}

// narrow performs an operation on numbers of less than 64 bits that the program computes. It tells
// whether it does.
func (d *Driver) narrow(s *State, i *ssa.BinOp) bool {
	x, y := d.value(s, i.X), d.value(s, i.Y)
	if isConstant(x) && isConstant(y) || !d.limits.scalars {
		return false
	}
	left, ok1 := scalar(x)
	right, ok2 := scalar(y)
	basic, _ := i.X.Type().Underlying().(*types.Basic)
	if !ok1 || !ok2 || left.size()+right.size() >= 40 || d.world.relevance.drops(i) {
		return false
	}
	ways, ok := wraps(i.Op, left, right, basic)
	if ok {
		d.branchOn(s, ways, i)
	}
	return ok
}

// branchOn goes on with each of the ways in which a result may exceed its width. The ways meet again
// at once.
func (d *Driver) branchOn(s *State, ways []wrapped, reg ssa.Value) {
	var rest *Code
	for n := len(ways) - 1; n >= 0; n-- {
		arm := d.fork(s, func(t *State) {
			t.top().regs[reg] = Dyn{ways[n].result}
			t.top().mode = "meet"
		})
		if rest == nil {
			rest = arm
			continue
		}
		rest = &Code{op: opIf, on: ways[n].condition, pos: reg.Pos(), arms: []*Code{arm, rest}}
	}
	d.put(rest)
}
