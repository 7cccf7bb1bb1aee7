package main

import (
	"sort"

	"golang.org/x/tools/go/ssa"
)

// Liveness says which registers of a function are still needed before each instruction.
type Liveness struct {
	out   map[*ssa.BasicBlock]map[ssa.Value]bool
	cache map[[2]int][]ssa.Value
}

func tracked(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Const, *ssa.Global, *ssa.Function, *ssa.Builtin, nil:
		return false
	}
	return true
}

func analyseLiveness(fn *ssa.Function) *Liveness {
	l := &Liveness{out: map[*ssa.BasicBlock]map[ssa.Value]bool{}, cache: map[[2]int][]ssa.Value{}}
	in := map[*ssa.BasicBlock]map[ssa.Value]bool{}
	for _, b := range fn.Blocks {
		l.out[b] = map[ssa.Value]bool{}
		in[b] = map[ssa.Value]bool{}
	}
	for changed := true; changed; {
		changed = false
		for i := len(fn.Blocks) - 1; i >= 0; i-- {
			b := fn.Blocks[i]
			out := l.out[b]
			for _, succ := range b.Succs {
				for v := range in[succ] {
					if !out[v] {
						out[v] = true
						changed = true
					}
				}
				// A phi needs its operand at the end of the block it comes from.
				for index, pred := range succ.Preds {
					if pred != b {
						continue
					}
					for _, instr := range succ.Instrs {
						phi, ok := instr.(*ssa.Phi)
						if !ok {
							break
						}
						if v := phi.Edges[index]; tracked(v) && !out[v] {
							out[v] = true
							changed = true
						}
					}
				}
			}
			live := map[ssa.Value]bool{}
			for v := range out {
				live[v] = true
			}
			for j := len(b.Instrs) - 1; j >= 0; j-- {
				backward(b.Instrs[j], live)
			}
			for v := range live {
				if !in[b][v] {
					in[b][v] = true
					changed = true
				}
			}
		}
	}
	return l
}

func backward(instr ssa.Instruction, live map[ssa.Value]bool) {
	if v, ok := instr.(ssa.Value); ok {
		delete(live, v)
	}
	if _, ok := instr.(*ssa.Phi); ok {
		return
	}
	if _, ok := instr.(*ssa.DebugRef); ok {
		return
	}
	for _, operand := range instr.Operands(nil) {
		if v := *operand; tracked(v) {
			live[v] = true
		}
	}
}

// liveAt lists the registers of a frame that are needed from where it stands.
func (d *Driver) liveAt(f *Frame, top bool) []ssa.Value {
	l := d.liveness[f.fn]
	if l == nil {
		l = analyseLiveness(f.fn)
		d.liveness[f.fn] = l
	}
	pc := f.pc
	if f.block == nil {
		return nil
	}
	place := [2]int{f.block.Index, pc}
	if live, ok := l.cache[place]; ok {
		return live
	}
	live := map[ssa.Value]bool{}
	for v := range l.out[f.block] {
		live[v] = true
	}
	for j := len(f.block.Instrs) - 1; j >= pc; j-- {
		backward(f.block.Instrs[j], live)
	}
	// Named results are read when a panic is recovered.
	if f.fn.Recover != nil {
		for _, instr := range f.fn.Recover.Instrs {
			for _, operand := range instr.Operands(nil) {
				if v := *operand; tracked(v) {
					if alloc, ok := v.(*ssa.Alloc); ok {
						live[alloc] = true
					}
				}
			}
		}
	}
	list := make([]ssa.Value, 0, len(live))
	for v := range live {
		list = append(list, v)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name() < list[j].Name() })
	l.cache[place] = list
	return list
}

// Loops are the natural loops of a function.
type Loops struct {
	body map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool // by header
	all  map[*ssa.BasicBlock]bool                     // blocks in some loop
}

func analyseLoops(fn *ssa.Function) *Loops {
	loops := &Loops{body: map[*ssa.BasicBlock]map[*ssa.BasicBlock]bool{}, all: map[*ssa.BasicBlock]bool{}}
	for _, b := range fn.Blocks {
		for _, header := range b.Succs {
			if !header.Dominates(b) {
				continue
			}
			body := loops.body[header]
			if body == nil {
				body = map[*ssa.BasicBlock]bool{header: true}
				loops.body[header] = body
			}
			stack := []*ssa.BasicBlock{b}
			for len(stack) > 0 {
				x := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if body[x] {
					continue
				}
				body[x] = true
				stack = append(stack, x.Preds...)
			}
		}
	}
	for _, body := range loops.body {
		for b := range body {
			loops.all[b] = true
		}
	}
	return loops
}

func (d *Driver) loopsIn(fn *ssa.Function) *Loops {
	l := d.loopsOf[fn]
	if l == nil {
		l = analyseLoops(fn)
		d.loopsOf[fn] = l
	}
	return l
}

// repeats tells whether what the goroutine makes here may be made several times: in a loop anywhere
// in its chain of calls, or because there may be several such goroutines.
func (d *Driver) repeats(s *State) bool {
	if s.multi || s.root != "main" && d.facts.many[s.root] {
		return true
	}
	for _, f := range s.frames {
		if f.block != nil && d.loopsIn(f.fn).all[f.block] {
			return true
		}
	}
	return false
}
