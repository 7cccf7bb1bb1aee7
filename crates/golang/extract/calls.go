package main

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Target is a function that a call leads to.
type Target struct {
	fn   *ssa.Function
	args []Value
}

// operands are the function and the arguments of a call. For a method of an interface the function
// is the receiver.
func (d *Driver) operands(s *State, call *ssa.CallCommon) (Value, []Value) {
	args := make([]Value, len(call.Args))
	for i, arg := range call.Args {
		args[i] = d.value(s, arg)
	}
	if _, ok := call.Value.(*ssa.Builtin); ok {
		return KNil{}, args
	}
	return d.value(s, call.Value), args
}

// resolve finds the function of a call.
func (d *Driver) resolve(s *State, call *ssa.CallCommon, fn Value, args []Value) (Target, []Value, bool) {
	if call != nil && call.IsInvoke() {
		ifc, ok := fn.(Ifc)
		if !ok || ifc.typ == nil {
			return Target{}, nil, false
		}
		method := d.world.method(ifc.typ, call.Method)
		if method == nil {
			return Target{}, nil, false
		}
		return Target{method, append([]Value{ifc.v}, args...)}, nil, true
	}
	if clo, ok := fn.(Clo); ok {
		return Target{clo.fn, args}, clo.bind, true
	}
	return Target{}, nil, false
}

// call performs a call instruction.
func (d *Driver) call(s *State, site *ssa.Call, call *ssa.CallCommon, fn Value, args []Value, pos token.Pos) bool {
	if builtin, ok := call.Value.(*ssa.Builtin); ok {
		return d.builtin(s, site, call, builtin.Name(), args, pos)
	}
	return d.enter(s, site, call, fn, args, pos, false)
}

// enter calls a function: a model, its source, or nothing that can be followed.
func (d *Driver) enter(s *State, site ssa.Instruction, call *ssa.CallCommon, fn Value, args []Value, pos token.Pos, deferred bool) bool {
	if !pos.IsValid() {
		pos = calledAt(s)
	}
	finish := func(v Value) {
		if reg, ok := site.(*ssa.Call); ok && !deferred {
			s.top().regs[reg] = v
		}
	}
	if model, ok := fn.(Model); ok {
		if call != nil && call.IsInvoke() {
			return d.modelMethod(s, site, call, model, args, pos, finish)
		}
		return d.callModel(s, site, model, args, pos, finish)
	}
	if call != nil && call.IsInvoke() {
		if ifc, ok := fn.(Ifc); ok {
			if model, ok := ifc.v.(Model); ok {
				return d.modelMethod(s, site, call, model, args, pos, finish)
			}
		}
	}
	target, bind, ok := d.resolve(s, call, fn, args)
	if !ok {
		return d.callUnknown(s, site, call, fn, args, pos, finish)
	}
	if functionName(target.fn) == "(net/http.HandlerFunc).ServeHTTP" && len(target.args) > 0 {
		// The method calls the function that it is a method of.
		return d.enter(s, site, nil, target.args[0], target.args[1:], pos, deferred)
	}
	if done, end := d.callModelled(s, site, target, pos, finish); done {
		return end
	}
	d.nativePanics = false
	if v, ok := d.callNative(s, site, target); ok {
		finish(v)
		return false
	} else if d.nativePanics {
		return d.panics(s, somePanic(), pos)
	}
	if v, ok := d.appendNative(s, site, target, pos); ok && !deferred {
		finish(v)
		return false
	}
	if _, outside := d.world.outsidePath(target.fn); outside {
		return d.callOutside(s, site, target, pos, finish)
	}
	if call, ok := site.(*ssa.Call); ok && !deferred && isComputation(target.fn) && slices.ContainsFunc(target.args, isUnknown) {
		// Following it would only show in how many ways the text can be taken apart.
		finish(d.unknown(s, here(s.top()), call, call.Type()))
		return false
	}
	return d.push(s, site, target, bind, nil, pos, deferred)
}

// calledAt is where the source calls what happens now: a method value, a method of an embedded field
// and the like are functions without a source that call another one.
func calledAt(s *State) token.Pos {
	for i := len(s.frames) - 1; i >= 0; i-- {
		if pos := s.frames[i].at; pos.IsValid() {
			return pos
		}
	}
	return token.NoPos
}

// isComputation tells functions of the standard library that compute a result from plain arguments,
// and do nothing else whatever these are.
func isComputation(fn *ssa.Function) bool {
	if fn.Pkg == nil || fn.Signature.Recv() != nil || fn.Name() == "Repeat" || strings.HasPrefix(fn.Name(), "Append") || strings.HasPrefix(fn.Name(), "Encode") || fn.Parent() != nil || fn.Signature.TypeParams() != nil {
		return false
	}
	switch fn.Pkg.Pkg.Path() {
	case "strings", "bytes", "strconv", "unicode", "unicode/utf8", "unicode/utf16", "path", "path/filepath", "math/bits":
	default:
		return false
	}
	for param := range fn.Signature.Params().Variables() {
		if !plain(param.Type(), 4) {
			return false
		}
	}
	return plainTuple(fn.Signature.Results())
}

func isUnknown(v Value) bool {
	_, ok := v.(Sym)
	return ok
}

// push begins a call of a function whose source is known.
func (d *Driver) push(s *State, site ssa.Instruction, target Target, bind []Value, after []After, pos token.Pos, deferred bool) bool {
	f := s.top()
	depth := 0
	for _, frame := range s.frames {
		if frame.fn == target.fn {
			depth++
		}
	}
	if depth > 0 && d.inTailPosition(f, site, deferred, after) && f.fn == target.fn {
		// A call in tail position is a loop.
		frame := d.frame(target.fn, target.args, bind, f.site, f.context)
		frame.after, frame.deferred, frame.at = f.after, f.deferred, pos
		s.frames[len(s.frames)-1] = frame
		return d.meet(s, d.limits.unroll)
	}
	if depth >= d.limits.depth || len(s.frames) > 200 {
		return d.callRecursive(s, site, target, bind, pos, deferred)
	}
	context := d.context(f.context, site, target.fn.String())
	frame := d.frame(target.fn, target.args, bind, site, context)
	frame.after, frame.deferred, frame.at = after, deferred, pos
	s.frames = append(s.frames, frame)
	return false
}

// inTailPosition tells whether nothing but a return follows a call.
func (d *Driver) inTailPosition(f *Frame, site ssa.Instruction, deferred bool, after []After) bool {
	call, ok := site.(*ssa.Call)
	if !ok || deferred || len(after) > 0 || len(f.defers) > 0 {
		return false
	}
	block, pc := f.block, f.pc
	for range 4 {
		for pc < len(block.Instrs) {
			switch i := block.Instrs[pc].(type) {
			case *ssa.DebugRef, *ssa.RunDefers:
			case *ssa.Return:
				return len(i.Results) == 0 || len(i.Results) == 1 && i.Results[0] == ssa.Value(call)
			case *ssa.Jump:
				block, pc = block.Succs[0], -1
			default:
				return false
			}
			pc++
		}
	}
	return false
}

// callRecursive calls a function that is deep in itself as a function of the program: it starts
// with what is known here, and what it changes is shared memory.
func (d *Driver) callRecursive(s *State, site ssa.Instruction, target Target, bind []Value, pos token.Pos, deferred bool) bool {
	d.escape(s, Tup{append(append([]Value(nil), target.args...), bind...)})
	child := s.clone()
	child.root = fmt.Sprintf("call %p", target.fn)
	child.multi = true
	frame := d.frame(target.fn, target.args, bind, nil, d.context(0, target.fn, child.root))
	frame.at = pos
	child.frames = []*Frame{frame}
	node, subst := d.arrive(child, target.fn.Name(), target.fn.Pos(), min(d.limits.roots, 4))
	node.returns = true
	d.put(&Code{op: opCall, node: node, subst: subst, pos: pos})
	if reg, ok := site.(*ssa.Call); ok && !deferred {
		result := d.unknown(s, here(s.top()), reg, reg.Type())
		if mayHoldConcurrency(reg.Type(), 3) {
			d.assume(pos, "either", aboutRecursiveResult)
		}
		s.top().regs[reg] = result
	}
	return false
}

// runDeferred performs the deferred call that comes next.
func (d *Driver) runDeferred(s *State) bool {
	f := s.top()
	deferred := f.defers[len(f.defers)-1]
	f.defers = f.defers[:len(f.defers)-1]
	return d.callDeferred(s, deferred)
}

// callDeferred performs a deferred call.
func (d *Driver) callDeferred(s *State, deferred Deferred) bool {
	if deferred.call == nil {
		return d.enter(s, deferredSite, nil, deferred.fn, deferred.args, deferred.pos, true)
	}
	if builtin, ok := deferred.call.Value.(*ssa.Builtin); ok {
		return d.builtin(s, nil, deferred.call, builtin.Name(), deferred.args, deferred.pos)
	}
	return d.enter(s, deferredSite, deferred.call, deferred.fn, deferred.args, deferred.pos, true)
}

// deferredSite stands for the place where deferred functions are called.
var deferredSite ssa.Instruction = &ssa.RunDefers{}

// callUnknown: the function is a value that is not known.
func (d *Driver) callUnknown(s *State, site ssa.Instruction, call *ssa.CallCommon, fn Value, args []Value, pos token.Pos, finish func(Value)) bool {
	var results types.Type
	if reg, ok := site.(*ssa.Call); ok {
		results = reg.Type()
	}
	if isNil(fn) {
		return d.panics(s, d.runtimeError("runtime error: invalid memory address or nil pointer dereference"), pos)
	}
	if call != nil && call.IsInvoke() && isContext(call.Value.Type()) {
		// A context from outside: it may end at any moment.
		finish(d.unknown(s, here(s.top()), site, results))
		return false
	}
	if call != nil && call.IsInvoke() && !d.world.mayCommunicate(call) && quietInterface(call) {
		if d.world.mayHaveEffects(call) {
			d.assume(pos, "either", aboutUnknownMethod)
		}
		if d.givesCallback(s, call, args) {
			d.assume(pos, "either", aboutUnreadCallback, call.Method.FullName())
		}
		d.forgetAll(s, args)
		finish(d.unknownFrom(s, here(s.top()), site, results, fromOutside(text(fn))))
		return false
	}
	d.assume(pos, "either", aboutUnknownFunction)
	d.forgetAll(s, args)
	d.escape(s, Tup{args})
	finish(d.unknown(s, here(s.top()), site, results))
	return false
}
