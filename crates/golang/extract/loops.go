package main

import (
	"go/token"
	"go/types"
	"sort"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// loopHeaders lists the loops whose end was left open, in the order of the source.
func (d *Driver) loopHeaders() []*ssa.BasicBlock {
	var headers []*ssa.BasicBlock
	for header := range d.loops {
		headers = append(headers, header)
	}
	sort.Slice(headers, func(i, j int) bool {
		if a, b := loopPos(headers[i]), loopPos(headers[j]); a != b {
			return a < b
		}
		return headers[i].Index < headers[j].Index
	})
	return headers
}

// loopPos is where a loop begins: the statement when it is known, else its condition.
func loopPos(header *ssa.BasicBlock) token.Pos {
	if condition, ok := last1(header.Instrs).(*ssa.If); ok && condition.Cond.Pos() != token.NoPos {
		return condition.Cond.Pos()
	}
	return blockPos(header)
}

func last1(instrs []ssa.Instruction) ssa.Instruction { return instrs[len(instrs)-1] }

// ranking looks for a linear ranking: a variable that a test in every round compares with something
// that does not change, and that every round moves towards it.
func ranking(loops *Loops, header *ssa.BasicBlock) (bool, string) {
	body := loops.body[header]
	why := "no exit of the loop compares a counter with something that does not change"
	for _, block := range header.Parent().Blocks {
		if !body[block] || !inEveryRound(block, header, body) {
			continue
		}
		branch, ok := last1(block.Instrs).(*ssa.If)
		if !ok || body[block.Succs[0]] == body[block.Succs[1]] {
			continue
		}
		stays := body[block.Succs[0]]
		if ends, reason := rankedBy(branch.Cond, stays, header, body); ends {
			return true, reason
		} else if reason != "" {
			why = reason
		}
	}
	return false, why
}

// inEveryRound tells whether no round can go past the block.
func inEveryRound(block, header *ssa.BasicBlock, body map[*ssa.BasicBlock]bool) bool {
	for _, pred := range header.Preds {
		if body[pred] && !block.Dominates(pred) {
			return false
		}
	}
	return true
}

// rankedBy checks one exit: the loop goes on as long as the condition is `stays`.
func rankedBy(condition ssa.Value, stays bool, header *ssa.BasicBlock, body map[*ssa.BasicBlock]bool) (bool, string) {
	for {
		not, ok := condition.(*ssa.UnOp)
		if !ok || not.Op != token.NOT {
			break
		}
		condition, stays = not.X, !stays
	}
	if extract, ok := condition.(*ssa.Extract); ok {
		if _, ok := extract.Tuple.(*ssa.Next); ok {
			return true, "a range over a map or string ends"
		}
	}
	compare, ok := condition.(*ssa.BinOp)
	if !ok {
		return false, ""
	}
	op := compare.Op
	x, y := compare.X, compare.Y
	if invariant(x, body) && !invariant(y, body) {
		x, y, op = y, x, mirrored(op)
	}
	if !stays {
		op = negated(op)
	}
	if !invariant(y, body) {
		return false, "the bound of the loop changes inside it"
	}
	step, ok := stepOf(x, header, body)
	if !ok {
		return false, "the counter does not change by a constant in every round"
	}
	switch op {
	case token.LSS, token.LEQ:
		if step > 0 {
			return true, "a counter grows towards its bound in every round"
		}
	case token.GTR, token.GEQ:
		if step < 0 {
			return true, "a counter falls towards its bound in every round"
		}
	case token.NEQ:
		if step == 1 || step == -1 {
			return false, "the counter may start beyond the value it is compared with"
		}
	}
	return false, "the counter moves away from its bound"
}

func mirrored(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GTR
	case token.LEQ:
		return token.GEQ
	case token.GTR:
		return token.LSS
	case token.GEQ:
		return token.LEQ
	}
	return op
}

func negated(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GEQ
	case token.LEQ:
		return token.GTR
	case token.GTR:
		return token.LEQ
	case token.GEQ:
		return token.LSS
	case token.EQL:
		return token.NEQ
	case token.NEQ:
		return token.EQL
	}
	return op
}

// invariant tells whether a value is the same in every round.
func invariant(v ssa.Value, body map[*ssa.BasicBlock]bool) bool {
	switch v := v.(type) {
	case *ssa.Const, *ssa.Parameter, *ssa.FreeVar, *ssa.Global:
		return true
	case *ssa.Call:
		if builtin, ok := v.Call.Value.(*ssa.Builtin); ok && (builtin.Name() == "len" || builtin.Name() == "cap") {
			return invariant(v.Call.Args[0], body)
		}
		return !body[v.Block()]
	case ssa.Instruction:
		return !body[v.Block()]
	}
	return false
}

// stepOf is by how much a counter changes in every round.
func stepOf(v ssa.Value, header *ssa.BasicBlock, body map[*ssa.BasicBlock]bool) (int64, bool) {
	// A test after the step tests the counter all the same.
	if sum, ok := v.(*ssa.BinOp); ok && (sum.Op == token.ADD || sum.Op == token.SUB) {
		if _, ok := sum.Y.(*ssa.Const); ok {
			v = sum.X
		}
	}
	phi, ok := v.(*ssa.Phi)
	if !ok || phi.Block() != header {
		return 0, false
	}
	if basic, ok := phi.Type().Underlying().(*types.Basic); !ok || basic.Info()&types.IsInteger == 0 {
		return 0, false
	}
	step, found := int64(0), false
	for i, pred := range header.Preds {
		if !body[pred] {
			continue
		}
		sum, ok := phi.Edges[i].(*ssa.BinOp)
		if !ok || sum.X != ssa.Value(phi) || sum.Op != token.ADD && sum.Op != token.SUB {
			return 0, false
		}
		constant, ok := sum.Y.(*ssa.Const)
		if !ok || constant.Value == nil {
			return 0, false
		}
		n := constant.Int64()
		if sum.Op == token.SUB {
			n = -n
		}
		if found && (n > 0) != (step > 0) || n == 0 {
			return 0, false
		}
		step, found = n, true
	}
	return step, found
}

// hasOnlyLoopsThatEnd tells functions of libraries that work through what they are given and are
// done, as long as the functions that they call return.
func hasOnlyLoopsThatEnd(fn *ssa.Function) bool {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	pkg := fn.Pkg
	if origin := fn.Origin(); pkg == nil && origin != nil {
		pkg = origin.Pkg
	}
	if pkg == nil || fn.Name() == "ReadFrom" {
		return false
	}
	switch path := pkg.Pkg.Path(); path {
	case "sort", "slices", "maps", "strings", "bytes", "strconv", "cmp", "errors", "container/heap", "container/list",
		"unicode", "unicode/utf8", "unicode/utf16", "path", "path/filepath", "math", "math/bits":
		return true
	default:
		return strings.HasPrefix(path, "golang.org/x/sys/")
	}
}
