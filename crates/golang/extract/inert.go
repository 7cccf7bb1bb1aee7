package main

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// inert tells whether a function only computes plain data: nothing in it, or in what it calls, can
// be noticed by other goroutines or decide what they meet at.
func (w *World) inert(fn *ssa.Function) bool {
	answer, known := w.still[fn]
	if known {
		return answer
	}
	// A function that calls itself is inert if the rest of it is.
	w.still[fn] = true
	answer = plainTuple(fn.Signature.Results())
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			answer = answer && w.inertInstruction(instr)
		}
	}
	w.still[fn] = answer
	return answer
}

func (w *World) inertInstruction(instr ssa.Instruction) bool {
	switch i := instr.(type) {
	case *ssa.Go, *ssa.Send, *ssa.Select, *ssa.MakeChan, *ssa.Defer, *ssa.Panic:
		return false
	case *ssa.UnOp:
		return i.Op != token.ARROW
	case *ssa.Store:
		return plain(i.Val.Type(), 4)
	case *ssa.MapUpdate:
		return plain(i.Value.Type(), 4)
	case *ssa.Alloc:
		return !holdsConcurrency(i.Type().(*types.Pointer).Elem())
	case *ssa.Call:
		return w.inertCall(&i.Call)
	}
	return true
}

func (w *World) inertCall(call *ssa.CallCommon) bool {
	if builtin, ok := call.Value.(*ssa.Builtin); ok {
		return builtin.Name() != "close" && builtin.Name() != "recover"
	}
	if call.IsInvoke() {
		return plainTuple(call.Signature().Results()) && !w.mayCommunicate(call) && !w.mayHaveEffects(call)
	}
	callee := call.StaticCallee()
	if callee == nil {
		return false
	}
	if _, outside := w.outsidePath(callee); outside {
		quiet, _ := w.quietly(callee)
		return quiet && !isModelled(callee) && plainTuple(callee.Signature.Results())
	}
	return len(callee.Blocks) > 0 && w.inert(callee)
}

func plainTuple(t *types.Tuple) bool {
	for i := range t.Len() {
		if !plain(t.At(i).Type(), 4) {
			return false
		}
	}
	return true
}

var errorType = types.Universe.Lookup("error").Type()

// plain tells types whose values hold neither functions nor anything goroutines meet at.
func plain(t types.Type, depth int) bool {
	if depth == 0 {
		return false
	}
	if lockKind(t) != "" {
		return false
	}
	if types.Identical(t, errorType) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return true
	case *types.Slice:
		return plain(u.Elem(), depth-1)
	case *types.Array:
		return plain(u.Elem(), depth-1)
	case *types.Pointer:
		return plain(u.Elem(), depth-1)
	case *types.Map:
		return plain(u.Key(), depth-1) && plain(u.Elem(), depth-1)
	case *types.Struct:
		for i := range u.NumFields() {
			if !plain(u.Field(i).Type(), depth-1) {
				return false
			}
		}
		return true
	}
	return false
}

// giveUp leaves the calls of inert functions that the goroutine is in: their results are taken as
// unknown. It tells whether there were any.
func (d *Driver) giveUp(s *State, outside bool) bool {
	for k := 1; k < len(s.frames); k++ {
		f := s.frames[k]
		if len(f.after) > 0 || f.deferred || !d.world.inert(f.fn) {
			continue
		}
		site, ok := f.site.(*ssa.Call)
		if !ok || s.frames[k-1].mode != "" {
			continue
		}
		for _, frame := range s.frames[k:] {
			for header, body := range d.loopsIn(frame.fn).body {
				if body[frame.block] {
					d.loops[header] = true
				}
			}
		}
		var touched []Value
		for _, frame := range s.frames[k:] {
			for _, param := range frame.fn.Params {
				touched = append(touched, frame.regs[param])
				if aliasable(frame.regs[param]) {
					d.havocBehind(s, param.Type())
				}
			}
			for _, free := range frame.fn.FreeVars {
				touched = append(touched, frame.regs[free])
				if aliasable(frame.regs[free]) {
					d.havocBehind(s, free.Type())
				}
			}
		}
		for _, frame := range s.frames[k:] {
			touched = append(touched, d.touchedGlobals(s, frame.fn)...)
		}
		d.forgetPlain(s, touched)
		s.frames = s.frames[:k:k]
		s.top().regs[site] = d.unknownFrom(s, here(s.top()), site, site.Type(), outside)
		return true
	}
	return false
}

// touchedGlobals are the package variables that a function, or what it calls, may change.
func (d *Driver) touchedGlobals(s *State, fn *ssa.Function) []Value {
	if !d.world.hasEffects(fn) {
		return nil
	}
	var found []Value
	seen := map[*ssa.Function]bool{}
	stack := []*ssa.Function{fn}
	for len(stack) > 0 {
		one := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[one] || !d.world.hasEffects(one) {
			continue
		}
		seen[one] = true
		mentions := d.world.mentionsOf(one)
		stack = append(stack, mentions.functions...)
		for _, global := range mentions.globals {
			found = append(found, d.global(s, global))
		}
	}
	return found
}
