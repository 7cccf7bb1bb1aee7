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
		return plainTuple(call.Signature().Results()) && !isLoudInterface(call) && !w.mayCommunicate(call) && w.allInert(call)
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

// allInert tells whether every method that a call of an interface's method may lead to only computes
// plain data.
func (w *World) allInert(call *ssa.CallCommon) bool {
	for _, fn := range w.implementations(call.Method) {
		if w.hasEffects(fn) && !isStandardMethod(fn) && !w.inert(fn) {
			return false
		}
	}
	return true
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

// isInert tells whether a call only computes plain data. What sorts or keeps a heap does nothing but
// call methods of what it is given.
func (d *Driver) isInert(f *Frame) bool {
	if d.world.inert(f.fn) {
		return true
	}
	if f.fn.Pkg == nil || f.fn.Pkg.Pkg.Path() != "sort" && f.fn.Pkg.Pkg.Path() != "container/heap" {
		return false
	}
	for _, param := range f.fn.Params {
		target, ok := param.Type().Underlying().(*types.Interface)
		if !ok {
			continue
		}
		given, ok := f.regs[param].(Ifc)
		if !ok {
			return false
		}
		for method := range target.Methods() {
			fn := d.world.method(given.typ, method)
			if fn == nil || len(fn.Blocks) == 0 || !d.world.inert(fn) {
				return false
			}
		}
	}
	return f.fn.Signature.Recv() == nil && plainTuple(f.fn.Signature.Results())
}

// giveUp leaves the calls of inert functions that the goroutine is in: their results are taken as
// unknown. It tells whether there were any.
func (d *Driver) giveUp(s *State, outside bool) bool {
	for k := 1; k < len(s.frames); k++ {
		f := s.frames[k]
		if len(f.after) > 0 || f.deferred || !d.isInert(f) {
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
					d.havocThrough(s, param.Type())
				}
			}
			for _, free := range frame.fn.FreeVars {
				touched = append(touched, frame.regs[free])
				if aliasable(frame.regs[free]) {
					d.havocThrough(s, free.Type())
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

// havocThrough forgets the plain data that values of a type may lead to, by their methods as well.
func (d *Driver) havocThrough(s *State, t types.Type) {
	d.havocBehind(s, t)
	target, ok := t.Underlying().(*types.Interface)
	if !ok {
		return
	}
	for method := range target.Methods() {
		for _, fn := range d.world.implementations(method) {
			if d.world.hasEffects(fn) && !isStandardMethod(fn) {
				d.forgetPlain(s, everything(s))
				return
			}
		}
	}
}

// everything are pointers to all objects of a state.
func everything(s *State) []Value {
	var all []Value
	for _, name := range sortedKeys(s.heap) {
		all = append(all, Ptr{name, ""})
	}
	return all
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
		stack = append(append(append(stack, mentions.functions...), mentions.taken...), mentions.boxed...)
		for _, method := range mentions.methods {
			stack = append(stack, d.world.implementations(method)...)
		}
		for _, global := range mentions.globals {
			if d.needed[global] {
				found = append(found, d.global(s, global))
			}
		}
	}
	return found
}
