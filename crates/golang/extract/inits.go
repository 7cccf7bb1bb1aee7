package main

import (
	"golang.org/x/tools/go/ssa"
)

// Pieces are the instructions of a package's initialiser in groups that have nothing to do with
// each other: the initialisation of one variable, most often.
type Pieces struct {
	of      map[*ssa.BasicBlock][]int
	globals [][]*ssa.Global
	keep    []bool // does something besides setting variables
}

// piecesOf takes an initialiser apart.
func (w *World) piecesOf(init *ssa.Function) *Pieces {
	if p := w.pieces[init]; p != nil {
		return p
	}
	parent := map[any]any{}
	var find func(x any) any
	find = func(x any) any {
		if parent[x] == nil || parent[x] == x {
			return x
		}
		root := find(parent[x])
		parent[x] = root
		return root
	}
	instructions(init, func(instr ssa.Instruction) {
		for _, operand := range instr.Operands(nil) {
			if other, ok := (*operand).(ssa.Instruction); ok {
				parent[find(other)] = find(instr)
			}
			if global, ok := (*operand).(*ssa.Global); ok {
				parent[find(global)] = find(instr)
			}
		}
	})
	p := &Pieces{of: map[*ssa.BasicBlock][]int{}}
	numbers := map[any]int{}
	for _, b := range init.Blocks {
		list := make([]int, len(b.Instrs))
		for i, instr := range b.Instrs {
			root := find(instr)
			number, known := numbers[root]
			if !known {
				number = len(numbers)
				numbers[root] = number
				p.globals = append(p.globals, nil)
				p.keep = append(p.keep, false)
			}
			list[i] = number
			for _, operand := range instr.Operands(nil) {
				if global, ok := (*operand).(*ssa.Global); ok {
					p.globals[number] = append(p.globals[number], global)
				}
			}
			if !w.sets(instr) {
				p.keep[number] = true
			}
		}
		p.of[b] = list
	}
	w.pieces[init] = p
	return p
}

// sets tells instructions that do nothing besides setting variables.
func (w *World) sets(instr ssa.Instruction) bool {
	switch i := instr.(type) {
	case *ssa.If, *ssa.Jump, *ssa.Return, *ssa.Go, *ssa.Defer, *ssa.Send, *ssa.Select, *ssa.Panic, *ssa.RunDefers, *ssa.Phi:
		return false
	case *ssa.Call:
		callee := i.Call.StaticCallee()
		if callee == nil {
			_, builtin := i.Call.Value.(*ssa.Builtin)
			return builtin
		}
		return callee.Pkg != nil && !w.roots[callee.Pkg] || w.inert(callee)
	}
	return true
}

func instructions(fn *ssa.Function, visit func(ssa.Instruction)) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			visit(instr)
		}
	}
}

// skipsInit tells whether the next instruction of an initialiser only sets variables that the entry
// has no use for.
func (d *Driver) skipsInit(f *Frame) bool {
	if f.fn.Name() != "init" || f.fn.Synthetic == "" || f.block == nil || f.pc >= len(f.block.Instrs) {
		return false
	}
	p := d.world.piecesOf(f.fn)
	number := p.of[f.block][f.pc]
	if p.keep[number] {
		return false
	}
	for _, global := range p.globals[number] {
		if d.needed[global] {
			return false
		}
	}
	return true
}
