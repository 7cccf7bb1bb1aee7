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
	globals      []*ssa.Global
}

// reached is what an entry can come to.
type reached struct {
	meets   bool
	globals map[*ssa.Global]bool
}

// reaches tells whether an entry can come to anything that goroutines meet at, and which package
// variables it may use. Every function that is mentioned on the way counts as called, and every
// method of a type of the packages that a call of an interface's method may mean.
func (w *World) reaches(entry *ssa.Function) (bool, map[*ssa.Global]bool) {
	if known, ok := w.reached.Load(entry); ok {
		known := known.(reached)
		return known.meets, known.globals
	}
	meets, globals := w.findReached(entry)
	w.reached.Store(entry, reached{meets, globals})
	return meets, globals
}

func (w *World) findReached(entry *ssa.Function) (bool, map[*ssa.Global]bool) {
	found := false
	globals := map[*ssa.Global]bool{}
	seen := map[*ssa.Function]bool{}
	called := map[*types.Func]bool{}
	stack := []*ssa.Function{entry}
	for _, init := range w.initsOf(entry) {
		// What an initialiser sets is no use of it; what it calls may use anything.
		m := w.mentionsOf(init)
		seen[init] = true
		found = found || m.communicates
		for _, b := range init.Blocks {
			for _, instr := range b.Instrs {
				if call, ok := instr.(ssa.CallInstruction); ok {
					if callee := call.Common().StaticCallee(); callee != nil {
						stack = append(stack, callee)
					}
				}
			}
		}
	}
	for len(stack) > 0 {
		fn := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[fn] {
			continue
		}
		seen[fn] = true
		m := w.mentionsOf(fn)
		found = found || m.communicates
		stack = append(stack, m.functions...)
		for _, global := range m.globals {
			if !globals[global] {
				globals[global] = true
				stack = append(stack, w.initialFunctions(global)...)
			}
		}
		for _, method := range m.methods {
			if !called[method] {
				called[method] = true
				stack = append(stack, w.implementations(method)...)
			}
		}
	}
	return found, globals
}

// initialFunctions lists the functions that a package variable may hold from its initialiser.
func (w *World) initialFunctions(global *ssa.Global) []*ssa.Function {
	if !w.isRoot(global.Pkg) {
		return nil
	}
	init := global.Pkg.Func("init")
	if init == nil || len(init.Blocks) == 0 {
		return nil
	}
	if w.initial == nil {
		w.initial = map[*ssa.Global][]*ssa.Function{}
	}
	if _, known := w.initial[global]; !known {
		w.listInitial(init)
	}
	return w.initial[global]
}

// listInitial finds, for each variable that an initialiser sets, the functions in its piece.
func (w *World) listInitial(init *ssa.Function) {
	p := w.piecesOf(init)
	functions := make([][]*ssa.Function, len(p.globals))
	for b, list := range p.of {
		for i, instr := range b.Instrs {
			for _, operand := range instr.Operands(nil) {
				if fn, ok := (*operand).(*ssa.Function); ok {
					functions[list[i]] = append(functions[list[i]], fn)
				}
			}
		}
	}
	for number, globals := range p.globals {
		for global := range globals {
			w.initial[global] = append(w.initial[global], functions[number]...)
		}
	}
	for _, member := range init.Pkg.Members {
		if global, ok := member.(*ssa.Global); ok && w.initial[global] == nil {
			w.initial[global] = []*ssa.Function{}
		}
	}
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
				switch other := (*operand).(type) {
				case *ssa.Function:
					m.functions = append(m.functions, other)
				case *ssa.Global:
					m.globals = append(m.globals, other)
				}
			}
			if call, ok := instr.(ssa.CallInstruction); ok && call.Common().IsInvoke() {
				m.methods = append(m.methods, call.Common().Method)
			}
			if boxing, ok := instr.(*ssa.MakeInterface); ok {
				// Code that is not read may call its methods.
				m.functions = append(m.functions, w.methodsOf(boxing.X.Type())...)
			}
		}
	}
	return m
}

// directlyCommunicates leaves calls of the packages' own functions to the search.
func (w *World) directlyCommunicates(instr ssa.Instruction) bool {
	if call, ok := instr.(ssa.CallInstruction); ok {
		callee := call.Common().StaticCallee()
		if _, spawns := instr.(*ssa.Go); spawns {
			return true
		}
		if callee != nil {
			return w.isNoticedOutside(callee)
		}
	}
	if _, ok := instr.(*ssa.MakeChan); ok {
		return true
	}
	return w.isNoticed(instr)
}

// implementations lists the methods that a method of an interface may mean.
func (w *World) implementations(method *types.Func) []*ssa.Function {
	list, known := w.methods[method]
	if !known {
		list = w.graph.implementations(w, method)
		w.methods[method] = list
	}
	return list
}
