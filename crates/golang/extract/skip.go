package main

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Region is what lies between a branch and where its sides meet again.
type Region struct {
	meet   *ssa.BasicBlock
	blocks map[*ssa.BasicBlock]bool
}

// region finds the blocks between a branch and the first block that every way from it goes through,
// if nothing in them can be noticed by other goroutines.
func (w *World) region(b *ssa.BasicBlock) *Region {
	if r, known := w.regions[b]; known {
		return r
	}
	w.regions[b] = nil
	meet := postDominator(b)
	if meet == nil {
		return nil
	}
	r := &Region{meet, between(b, meet)}
	for x := range r.blocks {
		for _, instr := range x.Instrs {
			switch instr.(type) {
			case *ssa.Return, *ssa.RunDefers:
				return nil
			}
			if !w.inertInstruction(instr) {
				return nil
			}
		}
	}
	w.regions[b] = r
	return r
}

// between are the blocks on the way from a branch to where its sides meet.
func between(b, meet *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	blocks := map[*ssa.BasicBlock]bool{}
	stack := append([]*ssa.BasicBlock(nil), b.Succs...)
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if x != meet && !blocks[x] {
			blocks[x] = true
			stack = append(stack, x.Succs...)
		}
	}
	return blocks
}

// postDominator is the first block that every way from a branch goes through: each candidate is
// tried by looking for a way around it.
func postDominator(b *ssa.BasicBlock) *ssa.BasicBlock {
	order := breadth(b)
	if len(order) > 60 {
		order = order[:60]
	}
	for _, candidate := range order {
		if candidate != b && !around(b, candidate) {
			return candidate
		}
	}
	return nil
}

// breadth lists the blocks after a branch, near ones first.
func breadth(b *ssa.BasicBlock) []*ssa.BasicBlock {
	seen := map[*ssa.BasicBlock]bool{}
	queue := append([]*ssa.BasicBlock(nil), b.Succs...)
	var order []*ssa.BasicBlock
	for len(queue) > 0 {
		x := queue[0]
		queue = queue[1:]
		if seen[x] {
			continue
		}
		seen[x] = true
		order = append(order, x)
		queue = append(queue, x.Succs...)
	}
	return order
}

// around tells whether the function can end without going through a block.
func around(b, avoid *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{avoid: true}
	stack := append([]*ssa.BasicBlock(nil), b.Succs...)
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[x] {
			continue
		}
		seen[x] = true
		if len(x.Succs) == 0 {
			return true
		}
		stack = append(stack, x.Succs...)
	}
	return false
}

// skip goes past a branch whose sides only compute plain data: what they compute is unknown. It
// tells whether it did, and whether the code being written ends there.
func (d *Driver) skip(s *State, b *ssa.BasicBlock) (skipped, end bool) {
	if !d.limits.skip {
		return false, false
	}
	r := d.world.region(b)
	if r == nil {
		return false, false
	}
	f := s.top()
	blocks := map[*ssa.BasicBlock]bool{b: true}
	for x := range r.blocks {
		blocks[x] = true
		for header, body := range d.loopsIn(f.fn).body {
			if header == x || body[b] && !body[r.meet] {
				d.loops[header] = true
			}
		}
	}
	for _, x := range f.fn.Blocks {
		if r.blocks[x] {
			d.disturbBlock(s, x, blocks)
		}
	}
	f = s.top()
	if r.blocks[b] || slices.ContainsFunc(b.Preds, func(from *ssa.BasicBlock) bool { return r.blocks[from] }) {
		// The branch is in a loop: what it tests was computed in the first round.
		for _, instr := range b.Instrs {
			if v, ok := instr.(ssa.Value); ok {
				f.regs[v] = d.unknown(s, here(f), v, v.Type())
			}
		}
	}
	for _, instr := range r.meet.Instrs {
		phi, ok := instr.(*ssa.Phi)
		if !ok {
			break
		}
		f.regs[phi] = d.mergedPhi(s, phi, blocks)
	}
	f.block = r.meet
	f.pc = 0
	for f.pc < len(r.meet.Instrs) {
		if _, ok := r.meet.Instrs[f.pc].(*ssa.Phi); !ok {
			break
		}
		f.pc++
	}
	if d.loopsIn(f.fn).body[r.meet] != nil {
		// Where a loop begins there is a node, or its rounds would never meet.
		delete(f.decided, r.meet)
		return true, d.meet(s, d.limits.states)
	}
	return true, false
}

// mergedPhi is the value of a phi whichever way was taken.
func (d *Driver) mergedPhi(s *State, phi *ssa.Phi, from map[*ssa.BasicBlock]bool) Value {
	var same Value
	for i, pred := range phi.Block().Preds {
		if !from[pred] {
			continue
		}
		edge := phi.Edges[i]
		if instr, ok := edge.(ssa.Instruction); ok && from[instr.Block()] {
			return d.unknown(s, here(s.top()), phi, phi.Type())
		}
		v := d.value(s, edge)
		if same != nil && !equal(same, v) {
			return d.unknown(s, here(s.top()), phi, phi.Type())
		}
		same = v
	}
	if same == nil {
		return d.unknown(s, here(s.top()), phi, phi.Type())
	}
	return same
}

// disturbBlock forgets what a block may write.
func (d *Driver) disturbBlock(s *State, b *ssa.BasicBlock, inside map[*ssa.BasicBlock]bool) {
	known := func(v ssa.Value) (Value, bool) {
		if instr, ok := v.(ssa.Instruction); ok && inside[instr.Block()] && instr.Block() != b {
			return nil, false
		}
		value, ok := s.top().regs[v]
		if !ok {
			if _, register := v.(ssa.Instruction); register {
				return nil, false
			}
			value = d.value(s, v)
		}
		return value, true
	}
	for _, instr := range b.Instrs {
		switch i := instr.(type) {
		case *ssa.FieldAddr:
			if base, ok := known(i.X); ok {
				if p, ok := base.(Ptr); ok {
					s.top().regs[i] = Ptr{p.object, sub(p.path, i.Field)}
				}
			}
		case *ssa.Store:
			address, ok := known(i.Addr)
			if p, isPointer := address.(Ptr); ok && isPointer {
				d.store(s, p, d.unknown(s, here(s.top()), i, i.Val.Type()), i.Pos())
			} else {
				d.havoc(s, i.Val.Type())
			}
		case *ssa.MapUpdate:
			if of, ok := known(i.Map); ok {
				d.forgetPlain(s, []Value{of})
			} else {
				d.havoc(s, i.Map.Type())
			}
		case *ssa.Call:
			// A closure may change what it has captured, any function package variables.
			clo, ok := known(i.Call.Value)
			if ok {
				d.forgetPlain(s, []Value{clo})
			}
			if i.Call.IsInvoke() {
				if !ok || aliasable(clo) {
					d.havocThrough(s, i.Call.Value.Type())
				}
				for _, fn := range d.world.implementations(invokedBy(&i.Call)) {
					d.forgetPlain(s, d.touchedGlobals(s, fn))
				}
			}
			if callee := i.Call.StaticCallee(); callee != nil {
				d.forgetPlain(s, d.touchedGlobals(s, callee))
				for _, free := range callee.FreeVars {
					if !ok {
						d.havocBehind(s, free.Type())
					}
				}
			}
			for _, arg := range i.Call.Args {
				if v, ok := known(arg); ok && !aliasable(v) {
					d.forgetPlain(s, []Value{v})
				} else {
					d.havocBehind(s, arg.Type())
				}
			}
		}
	}
}
