package main

import (
	"golang.org/x/tools/go/ssa"
)

// Pieces are the instructions of a package's initialiser in groups that have nothing to do with
// each other: the initialisation of one variable, most often.
type Pieces struct {
	of      map[*ssa.BasicBlock][]int
	globals []map[*ssa.Global]bool
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
					if p.globals[number] == nil {
						p.globals[number] = map[*ssa.Global]bool{}
					}
					p.globals[number][global] = true
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

// useless are the pieces of an initialiser that only set variables which the entry has no use for.
func (d *Driver) useless(init *ssa.Function) []bool {
	if known, ok := d.skipped[init]; ok {
		return known
	}
	p := d.world.piecesOf(init)
	useless := make([]bool, len(p.globals))
	for number, globals := range p.globals {
		useless[number] = !p.keep[number]
		for global := range globals {
			if d.needed[global] {
				useless[number] = false
				break
			}
		}
	}
	d.skipped[init] = useless
	return useless
}

// skipInit goes past instructions of an initialiser that only set variables which the entry has no
// use for.
func (d *Driver) skipInit(s *State) {
	f := s.frames[len(s.frames)-1]
	if f.mode != "" || f.fn.Synthetic == "" || f.block == nil || f.fn.Name() != "init" {
		return
	}
	useless := d.useless(f.fn)
	numbers := d.world.piecesOf(f.fn).of[f.block]
	pc := f.pc
	for pc < len(numbers) && useless[numbers[pc]] {
		pc++
	}
	if pc != f.pc {
		s.top().pc = pc
	}
}
