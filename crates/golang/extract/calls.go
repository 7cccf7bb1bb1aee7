package main

import (
	"fmt"
	"go/token"
	"go/types"

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
	finish := func(v Value) {
		if reg, ok := site.(*ssa.Call); ok && !deferred {
			s.top().regs[reg] = v
		}
	}
	if model, ok := fn.(Model); ok {
		if call != nil && call.IsInvoke() {
			return d.modelMethod(s, site, call, model, args, pos, finish)
		}
		return d.callModel(s, site, model, pos, finish)
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
	if done, end := d.callModelled(s, site, target, pos, finish); done {
		return end
	}
	if len(target.fn.Blocks) == 0 || !d.world.isRoot(target.fn.Pkg) && target.fn.Pkg != nil {
		return d.callOutside(s, site, target, bind, pos, finish)
	}
	return d.push(s, site, target, bind, nil, pos, deferred)
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
		frame.after, frame.deferred = f.after, f.deferred
		s.frames[len(s.frames)-1] = frame
		return d.meet(s, d.limits.unroll)
	}
	if depth >= d.limits.depth || len(s.frames) > 200 {
		return d.callRecursive(s, site, target, bind, pos, deferred)
	}
	context := d.context(f.context, site, target.fn.String())
	frame := d.frame(target.fn, target.args, bind, site, context)
	frame.after = after
	frame.deferred = deferred
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
	child.frames = []*Frame{frame}
	node, subst := d.arrive(child, target.fn.Name(), target.fn.Pos(), min(d.limits.roots, 4))
	node.returns = true
	d.put(&Code{op: opCall, node: node, subst: subst, pos: pos})
	if reg, ok := site.(*ssa.Call); ok && !deferred {
		result := d.unknown(s, here(s.top()), reg, reg.Type())
		if mayHoldConcurrency(reg.Type(), 3) {
			d.assume(pos, "either", "the channels or locks that a recursive call returns are not followed")
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
	if call != nil && call.IsInvoke() && isContext(call.Value.Type()) {
		// A context from outside: it may end at any moment.
		finish(d.unknown(s, here(s.top()), site, results))
		return false
	}
	if call != nil && call.IsInvoke() && !d.world.mayCommunicate(call) {
		d.disturb(s, args)
		finish(d.unknown(s, here(s.top()), site, results))
		return false
	}
	if isNil(fn) {
		return d.panics(s, d.runtimeError("runtime error: invalid memory address or nil pointer dereference"), pos)
	}
	quiet := call != nil && !call.IsInvoke() && len(args) == 0 && results != nil && !mayHoldConcurrency(results, 3) && false
	if !quiet {
		d.assume(pos, "either", "the function called here is not known: what it does is left out")
	}
	d.disturb(s, args)
	d.escape(s, Tup{args})
	finish(d.unknown(s, here(s.top()), site, results))
	return false
}

// callOutside: the function belongs to a package that is not read.
func (d *Driver) callOutside(s *State, site ssa.Instruction, target Target, bind []Value, pos token.Pos, finish func(Value)) bool {
	for _, arg := range target.args {
		if clo, ok := arg.(Clo); ok && d.world.communicates(clo.fn) {
			d.assume(pos, "either", "a function is handed to "+target.fn.String()+", which is not read: its calls are left out")
			d.escape(s, arg)
		}
	}
	results := target.fn.Signature.Results()
	var t types.Type = results
	if results.Len() == 1 {
		t = results.At(0).Type()
	}
	if !harmless(target.fn) {
		if given := channelsIn(s, target.args); given != "" {
			d.assume(pos, "either", given+" is handed to "+target.fn.String()+", which is not read")
			d.escape(s, Tup{target.args})
		}
		d.disturb(s, target.args)
	}
	if mayHoldChannel(t) {
		d.assume(pos, "either", "the channel that "+target.fn.String()+" returns is not followed")
	}
	finish(d.unknown(s, here(s.top()), site, t))
	return false
}

// channelsIn names what an outside function could operate on.
func channelsIn(s *State, args []Value) string {
	found := ""
	for _, arg := range args {
		if ifc, ok := arg.(Ifc); ok {
			if _, model := ifc.v.(Model); model {
				continue
			}
		}
		s.reach(arg, map[string]bool{}, func(name string) {
			if o := s.heap[name]; o != nil && o.kind == "chan" && found == "" {
				found = "the channel " + name
			}
		})
	}
	return found
}

// disturb forgets plain data that a function outside may have changed through its pointers.
func (d *Driver) disturb(s *State, args []Value) {
	for _, arg := range args {
		s.reach(arg, map[string]bool{}, func(name string) {
			o := s.heap[name]
			if o == nil || o.kind != "memory" || o.value == nil {
				return
			}
			copied := *o
			copied.value = disturbed(o.value, name)
			s.heap[name] = &copied
		})
	}
}

func disturbed(v Value, name string) Value {
	switch v := v.(type) {
	case KBool, KInt, KStr, KOther, Dyn:
		return Sym{"«changed " + name + "»"}
	case Agg:
		elems := make([]Value, len(v.elems))
		for i, e := range v.elems {
			elems[i] = disturbed(e, fmt.Sprintf("%s.%d", name, i))
		}
		return Agg{elems}
	}
	return v
}

// builtin performs a builtin function.
func (d *Driver) builtin(s *State, site *ssa.Call, call *ssa.CallCommon, name string, args []Value, pos token.Pos) bool {
	f := s.top()
	finish := func(v Value) {
		if site != nil {
			f.regs[site] = v
		}
	}
	switch name {
	case "close":
		d.operation(pos)
		to := d.endOf(s, args[0])
		if to.unknown || to.timer {
			d.assume(pos, "either", "the channel is not known: this close is left out")
			return false
		}
		if to.object != nil {
			d.closed(s, to.object)
		}
		d.put(&Code{op: opClose, on: to.expr, pos: pos})
	case "append":
		if site != nil {
			finish(d.appends(s, site, args, pos))
		}
	case "len", "cap":
		if name, ok := d.sharedMap(s, args[0]); ok && site != nil {
			if done, end := d.sharedLength(s, site, name); done {
				return end
			}
		}
		finish(d.length(s, site, name, args[0]))
	case "copy":
		finish(d.copies(s, site, args, pos))
	case "delete":
		d.deletes(s, args[0], args[1], argumentType(call, 0), pos)
	case "clear":
		d.clears(s, args[0], pos)
	case "panic":
		return d.panics(s, args[0], pos)
	case "recover":
		finish(d.recovers(s))
	case "ssa:wrapnilchk":
		if isNil(args[0]) {
			return d.panics(s, d.runtimeError("runtime error: invalid memory address or nil pointer dereference"), pos)
		}
		finish(args[0])
	case "ssa:deferstack":
		finish(Model{"deferstack", []Value{KInt(int64(len(s.frames) - 1))}})
	case "print", "println":
	default:
		if site != nil {
			if name == "min" || name == "max" {
				finish(d.extreme(s, site, name, args))
			} else {
				finish(d.unknown(s, here(f), site, site.Type()))
			}
		}
	}
	return false
}

// extreme is the builtin min or max.
func (d *Driver) extreme(s *State, site *ssa.Call, name string, args []Value) Value {
	basic, _ := site.Type().Underlying().(*types.Basic)
	best := args[0]
	for _, arg := range args[1:] {
		less, ok := constants(token.LSS, arg, best, basic)
		if !ok {
			return d.derived(s, site, name, args...)
		}
		if (name == "min") == bool(less.(KBool)) && !equal(arg, best) {
			best = arg
		}
	}
	return best
}

// closed: from now on receivers may get the zero of the messages' type.
func (d *Driver) closed(s *State, channel *Object) {
	messages := d.messages(channel.key)
	if messages.shape == nil || channel.typ == nil {
		return
	}
	switch u := channel.typ.Underlying().(type) {
	case *types.Basic:
		messages.join(d, s, zeroBasic(u), channel.typ)
	case *types.Chan:
		messages.join(d, s, KNil{}, channel.typ)
	}
}

func (d *Driver) length(s *State, site *ssa.Call, name string, v Value) Value {
	switch v := v.(type) {
	case Slc:
		if name == "cap" {
			return KInt(int64(v.max))
		}
		return KInt(int64(v.n))
	case KStr:
		return KInt(int64(len(v)))
	case KNil:
		if site != nil {
			if pointer, ok := site.Call.Args[0].Type().Underlying().(*types.Pointer); ok {
				if array, ok := pointer.Elem().Underlying().(*types.Array); ok {
					return KInt(array.Len())
				}
			}
		}
		return KInt(0)
	case Sym:
		if site != nil {
			if _, isChannel := site.Call.Args[0].Type().Underlying().(*types.Chan); isChannel {
				return d.unknownFrom(s, here(s.top()), site, site.Type(), fromOutside(v.id))
			}
		}
		return Sym{name + "(" + v.id + ")"}
	case Agg:
		return KInt(int64(len(v.elems)))
	case Ptr:
		o := s.heap[v.object]
		if o != nil && o.kind == "map" && !o.blurred && !d.isShared(s, v.object) {
			return KInt(int64(len(o.entries)))
		}
		if site != nil {
			if pointer, ok := site.Call.Args[0].Type().Underlying().(*types.Pointer); ok {
				if array, ok := pointer.Elem().Underlying().(*types.Array); ok {
					return KInt(array.Len())
				}
			}
		}
	case Ref:
		if o := s.heap[v.object]; o != nil && o.kind == "chan" {
			if name == "cap" && o.room >= 0 && !o.nilable {
				return KInt(int64(o.room))
			}
			if n, ok := s.count(v.object); name == "len" && ok {
				return KInt(n)
			}
			if name == "len" && o.room == 0 && !o.nilable {
				return KInt(0)
			}
		}
	}
	if site == nil {
		return Sym{"«?»"}
	}
	return d.unknown(s, here(s.top()), site, site.Type())
}

// argumentType is the type of an argument of a call.
func argumentType(call *ssa.CallCommon, i int) types.Type {
	if call == nil || i >= len(call.Args) {
		return nil
	}
	return call.Args[i].Type()
}
