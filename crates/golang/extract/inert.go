package main

import (
	"go/token"
	"go/types"
	"slices"

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
		return inertBuiltin(call, builtin.Name())
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
		calls := func(arg ssa.Value) bool { return w.mayBeCalledBack(arg, callee, 4) }
		return quiet && !isModelled(callee) && !setsPlain[functionName(callee)] && plainTuple(callee.Signature.Results()) && !slices.ContainsFunc(call.Args, calls)
	}
	return len(callee.Blocks) > 0 && w.inert(callee)
}

// inertBuiltin tells builtins that only change plain data.
func inertBuiltin(call *ssa.CallCommon, name string) bool {
	switch name {
	case "close", "recover":
		return false
	case "append", "copy", "clear", "delete":
		switch of := call.Args[0].Type().Underlying().(type) {
		case *types.Slice:
			return plain(of.Elem(), 4)
		case *types.Map:
			return plain(of.Elem(), 4)
		}
		return false
	}
	return true
}

// mayBeCalledBack tells whether code that is not read may call something with effects by a value that
// it is given.
func (w *World) mayBeCalledBack(v ssa.Value, callee *ssa.Function, depth int) bool {
	switch v := v.(type) {
	case *ssa.Function:
		return w.hasEffects(v)
	case *ssa.MakeClosure:
		return w.hasEffects(v.Fn.(*ssa.Function))
	case *ssa.MakeInterface:
		for _, inner := range w.inside(v.X.Type()) {
			for _, method := range append(w.methodsOf(inner), w.methodsOf(types.NewPointer(inner))...) {
				if w.calledBack[method.Name()] && w.hasEffects(method) {
					return true
				}
			}
			if mayHoldMethods(inner, 2) {
				return true
			}
		}
		return false
	case *ssa.Slice:
		array, ok := v.X.(*ssa.Alloc)
		if ok && array.Comment == "varargs" && depth > 0 {
			return anyStored(array, func(stored ssa.Value) bool { return w.mayBeCalledBack(stored, callee, depth-1) })
		}
	}
	return w.mayLeadElsewhere(v, callee, depth)
}

// allInert tells whether every method that a call of an interface's method may lead to only computes
// plain data.
func (w *World) allInert(call *ssa.CallCommon) bool {
	for _, fn := range w.implementations(invokedBy(call)) {
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

// giveUp leaves the outermost call of an inert or silent function that the goroutine is in: its
// results are taken as unknown, and so is what it may have written. It tells whether there was one,
// and whether the code being written has come to an end.
func (d *Driver) giveUp(s *State, outside bool) (bool, bool) {
	for k := 1; k < len(s.frames); k++ {
		f := s.frames[k]
		site, ok := f.site.(*ssa.Call)
		if !ok || len(f.after) > 0 || f.deferred || s.frames[k-1].mode != "" || isUnwinding(s.frames[k:]) {
			continue
		}
		silence := d.world.silence(f.fn)
		switch {
		case d.isInert(f):
			d.forgetInert(s, k)
		case d.leavesSilent(s) && silence != nil && plainTuple(f.fn.Signature.Results()):
			d.forgetSilence(s, silence)
		default:
			continue
		}
		d.noteLoops(s.frames[k:], silence)
		s.frames = s.frames[:k:k]
		s.top().regs[site] = d.unknownFrom(s, here(s.top()), site, site.Type(), outside)
		if d.isRecoverable(s) || silence != nil && silence.panics && isCaught(s) {
			return true, d.mayPanicInstead(s, site)
		}
		return true, false
	}
	return false, false
}

// leavesSilent tells whether calls of silent functions are left now: everywhere if the entry did not
// fit otherwise, and before that in initialisers.
func (d *Driver) leavesSilent(s *State) bool {
	return d.limits.skip || d.limits.brief && slices.ContainsFunc(s.frames, func(f *Frame) bool { return isPackageInit(f.fn) && f.mode == "" && f.pc > 0 })
}

// isUnwinding tells whether one of the calls is ending by a panic.
func isUnwinding(frames []*Frame) bool {
	return slices.ContainsFunc(frames, func(f *Frame) bool { return f.mode != "" && f.mode != "outside" && f.mode != "jump" })
}

// isCaught tells whether anything is done after a panic that happens now.
func isCaught(s *State) bool {
	return slices.ContainsFunc(s.frames, func(f *Frame) bool { return len(f.defers) > 0 || len(f.after) > 0 })
}

// mayPanicInstead follows a call that was left both ways: it has panicked, or returned.
func (d *Driver) mayPanicInstead(s *State, site *ssa.Call) bool {
	panics := d.fork(s, func(t *State) {
		if d.panics(t, d.unknown(t, here(t.top())+"panic", site, nil), site.Pos()) {
			t.frames = t.frames[:0]
		}
	})
	returns := d.fork(s, func(*State) {})
	d.put(&Code{op: opChoose, pos: nearPos(site), arms: []*Code{panics, returns}, lossy: true})
	return true
}

// noteLoops notes the loops of calls that are left, and of what they may call: that these end is not
// seen any more.
func (d *Driver) noteLoops(frames []*Frame, silence *Silence) {
	for _, frame := range frames {
		for header, body := range d.loopsIn(frame.fn).body {
			if body[frame.block] {
				d.loops[header] = true
			}
		}
	}
	functions := d.world.mayCall(frames[0].fn)
	if silence != nil {
		functions = silence.functions
	}
	for fn := range functions {
		for header := range d.loopsIn(fn).body {
			d.loops[header] = true
		}
	}
}

// mayCall are the functions that an inert function may lead to: it calls no function values.
func (w *World) mayCall(fn *ssa.Function) map[*ssa.Function]bool {
	found := map[*ssa.Function]bool{}
	stack := []*ssa.Function{fn}
	for len(stack) > 0 {
		one := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if found[one] || !w.isReadable(one) {
			continue
		}
		found[one] = true
		mentions := w.mentionsOf(one)
		stack = append(append(stack, mentions.functions...), mentions.taken...)
		for _, method := range mentions.methods {
			stack = append(stack, w.implementations(method)...)
		}
	}
	return found
}

// forgetInert forgets what the calls of inert functions from some call on may have written.
func (d *Driver) forgetInert(s *State, k int) {
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
}

// havocThrough forgets the plain data that values of a type may lead to, by their methods as well.
func (d *Driver) havocThrough(s *State, t types.Type) {
	d.havocBehind(s, t)
	target, ok := t.Underlying().(*types.Interface)
	if !ok {
		return
	}
	for method := range target.Methods() {
		for _, fn := range d.world.implementations(Invoked{method, t}) {
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
