package main

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Mentions are what a function does itself, and which functions it may lead to.
type Mentions struct {
	communicates bool
	functions    []*ssa.Function
	methods      []*types.Func // methods of interfaces that it calls
}

// reaches tells whether an entry can come to anything that goroutines meet at. Every function that
// is mentioned on the way counts as called, and every method of a type of the packages that a call
// of an interface's method may mean.
func (w *World) reaches(entry *ssa.Function) bool {
	seen := map[*ssa.Function]bool{}
	called := map[*types.Func]bool{}
	stack := append([]*ssa.Function{entry}, w.initsOf(entry)...)
	for len(stack) > 0 {
		fn := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[fn] {
			continue
		}
		seen[fn] = true
		m := w.mentionsOf(fn)
		if m.communicates {
			return true
		}
		stack = append(stack, m.functions...)
		for _, method := range m.methods {
			if !called[method] {
				called[method] = true
				stack = append(stack, w.implementations(method)...)
			}
		}
	}
	return false
}

func (w *World) mentionsOf(fn *ssa.Function) *Mentions {
	if m := w.mentions[fn]; m != nil {
		return m
	}
	m := &Mentions{}
	w.mentions[fn] = m
	var operands []*ssa.Value
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			if w.directlyCommunicates(instr) {
				m.communicates = true
			}
			operands = instr.Operands(operands[:0])
			for _, operand := range operands {
				if other, ok := (*operand).(*ssa.Function); ok {
					m.functions = append(m.functions, other)
				}
			}
			if call, ok := instr.(ssa.CallInstruction); ok && call.Common().IsInvoke() {
				m.methods = append(m.methods, call.Common().Method)
			}
		}
	}
	return m
}

// directlyCommunicates leaves calls of the packages' own functions to the search.
func (w *World) directlyCommunicates(instr ssa.Instruction) bool {
	if call, ok := instr.(ssa.CallInstruction); ok {
		callee := call.Common().StaticCallee()
		if callee != nil && (callee.Pkg == nil || w.roots[callee.Pkg]) {
			_, spawns := instr.(*ssa.Go)
			return spawns
		}
	}
	if _, ok := instr.(*ssa.MakeChan); ok {
		return true
	}
	return w.instructionCommunicates(instr, map[*ssa.Function]bool{})
}

// implementations lists the methods of the packages' types that a method of an interface may mean.
func (w *World) implementations(method *types.Func) []*ssa.Function {
	if list, known := w.methods[method]; known {
		return list
	}
	var list []*ssa.Function
	recv := method.Signature().Recv()
	if recv != nil {
		if target, ok := recv.Type().Underlying().(*types.Interface); ok {
			for _, t := range w.named {
				if types.Implements(t, target) {
					if fn := w.method(t, method); fn != nil {
						list = append(list, fn)
					}
				}
			}
		}
	}
	w.methods[method] = list
	return list
}
