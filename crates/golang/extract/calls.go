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
	if done, end := d.callModelled(s, site, target, pos, finish); done {
		return end
	}
	if v, ok := d.callNative(s, site, target); ok {
		finish(v)
		return false
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

// callOutside: the function belongs to a package that is not read. It is known to wait for nothing
// and to call back only what it is given, or nothing is known of it and that is an assumption.
func (d *Driver) callOutside(s *State, site ssa.Instruction, target Target, pos token.Pos, finish func(Value)) bool {
	name := target.fn.String()
	results := target.fn.Signature.Results()
	var t types.Type = results
	if results.Len() == 1 {
		t = results.At(0).Type()
	}
	if call, ok := site.(*ssa.Call); ok && returnsText(target.fn) {
		return d.prints(s, call, target, nil, "", pos)
	}
	if functionName(target.fn) == "encoding/json.Unmarshal" && d.unmarshals(s, site, target, pos) {
		finish(KNil{})
		return false
	}
	quiet, _ := d.world.quietly(target.fn)
	isParsing := parsesFlags[functionName(target.fn)]
	if isParsing && !d.flags.call {
		quiet = true
	}
	found := d.callbacks(s, target)
	if serves[functionName(target.fn)] && len(found) == 0 {
		return d.serve(s, site, target, t, pos, finish)
	}
	if !quiet {
		d.assume(pos, "either", aboutUnreadCall, name)
		d.escape(s, Tup{target.args})
	}
	if given := channelsIn(s, target.args); given != "" && !isPrinting(target.fn) {
		d.assume(pos, "either", aboutUnreadChannel, name)
		d.escape(s, Tup{target.args})
	}
	if mayHoldChannel(t) {
		d.assume(pos, "either", aboutUnreadResult, name)
	}
	if !changesNothing(target.fn) {
		d.disturb(s, target.args)
	}
	if isParsing && d.flags.set {
		d.forgetPlain(s, everything(s))
	}
	if callsLater[functionName(target.fn)] && len(found) > 0 {
		d.assume(pos, "either", aboutUnreadCallback, name)
	}
	// What is computed from known data is lost here; everything else comes from outside.
	external := quiet && !d.isDetermined(s, target)
	finish(d.unknownFrom(s, here(s.top()), site, t, external))
	if len(found) == 0 {
		return false
	}
	return d.callBack(s, target, found, pos)
}

// isDetermined tells whether a function computes its result from what it is given: then the result
// is not just anything.
func (d *Driver) isDetermined(s *State, target Target) bool {
	quiet, why := d.world.quietly(target.fn)
	if !quiet || why == files || why == observes {
		return false
	}
	path, _ := d.world.outsidePath(target.fn)
	switch path {
	case "math/rand", "math/rand/v2", "crypto/rand", "testing", "flag":
		return false
	case "time":
		switch target.fn.Name() {
		case "Now", "Since", "Until":
			return false
		}
	}
	for _, arg := range target.args {
		if fromOutside(text(arg)) {
			return false
		}
	}
	return len(target.args) > 0
}

// callBack calls the functions and methods that a function which is not read calls back, once each
// and in the order in which it was given them. What is not known to be called in this way is an
// assumption.
func (d *Driver) callBack(s *State, target Target, found []callback, pos token.Pos) bool {
	name := target.fn.String()
	var calls, writes []Deferred
	exact := callsOnce(target.fn)
	for i := len(found) - 1; i >= 0; i-- {
		one := found[i]
		if one.fn == nil || !exact || !one.method || one.fn.Signature.Params().Len() > 1 {
			d.assume(pos, "either", aboutUnreadCallback, name)
			d.escape(s, Tup{append([]Value{one.receiver}, one.bind...)})
			continue
		}
		args := []Value{one.receiver}
		if known, ok := d.formats(s, target); ok && one.fn.Name() == "Write" && one.fn.Signature.Params().Len() == 1 {
			bytes, _ := one.fn.Signature.Params().At(0).Type().Underlying().(*types.Slice)
			if site, isCall := s.top().block.Instrs[max(0, s.top().pc-1)].(*ssa.Call); isCall && bytes != nil {
				args = append(args, d.textAsSlice(s, site, string(known.(KStr)), bytes))
				writes = append(writes, Deferred{fn: Clo{fn: one.fn}, args: args, pos: pos})
				continue
			}
		}
		for k := range one.fn.Signature.Params().Len() {
			args = append(args, d.unknown(s, here(s.top())+"callback", one.fn, one.fn.Signature.Params().At(k).Type()))
		}
		call := Deferred{fn: Clo{fn: one.fn}, args: args, pos: pos}
		if printed[one.fn.Name()] {
			calls = append(calls, call)
		} else {
			writes = append(writes, call)
		}
	}
	if len(writes) > 0 {
		s.frames = append(s.frames, d.outside(s, nil, writes...))
	}
	if len(calls) > 0 {
		// A panic of such a method is printed.
		s.frames = append(s.frames, d.outside(s, []After{{"recovers", nil, pos}}, calls...))
	}
	return false
}

// callsOnce tells functions that call each method of what they are given once, in its order.
func callsOnce(fn *ssa.Function) bool {
	if fn.Pkg == nil {
		return false
	}
	switch path := fn.Pkg.Pkg.Path(); path {
	case "fmt":
		return !strings.Contains(fn.Name(), "can")
	case "testing", "log":
		return true
	case "encoding/json":
		return fn.Name() == "Marshal" || fn.Name() == "MarshalIndent"
	}
	return false
}

// isPrinting tells functions that look at a channel only to print its address.
func isPrinting(fn *ssa.Function) bool {
	if fn.Pkg == nil {
		return false
	}
	switch fn.Pkg.Pkg.Path() {
	case "fmt", "log", "log/slog", "testing", "errors", "runtime":
		return true
	}
	return strings.HasPrefix(fn.Pkg.Pkg.Path(), testifyModule)
}

// serves are functions that serve others until the program ends, or fail.
var serves = map[string]bool{
	"net/http.ListenAndServe": true, "net/http.ListenAndServeTLS": true, "net/http.Serve": true, "net/http.ServeTLS": true,
	"(*net/http.Server).ListenAndServe": true, "(*net/http.Server).ListenAndServeTLS": true, "(*net/http.Server).Serve": true,
}

// serve waits for the end of the program, on purpose, or fails.
func (d *Driver) serve(s *State, site ssa.Instruction, target Target, t types.Type, pos token.Pos, finish func(Value)) bool {
	reg, isCall := site.(*ssa.Call)
	failed := d.fork(s, func(u *State) {
		err := d.someError(u, site, "serve", "the server has ended")
		if isCall {
			u.top().regs[reg] = err
		}
	})
	served := &Code{op: opSelect, pos: pos, daemon: true}
	d.put(&Code{op: opChoose, pos: pos, arms: []*Code{served, failed}})
	return true
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

// changesNothing tells functions that change nothing their arguments point to.
func changesNothing(fn *ssa.Function) bool {
	if fn.Pkg == nil || strings.HasPrefix(fn.Name(), "Append") {
		return false
	}
	switch path := fn.Pkg.Pkg.Path(); path {
	case "fmt", "log":
		return !strings.Contains(fn.Name(), "can")
	case "strings", "strconv", "errors", "math", "math/rand/v2", "unicode", "unicode/utf8", "path", "path/filepath",
		"runtime", "testing", "regexp", "log/slog", "runtime/debug", "internal/reflectlite":
		return true
	case "reflect":
		return fn.Name() == "DeepEqual" || fn.Name() == "TypeOf" || fn.Name() == "ValueOf"
	}
	return strings.HasPrefix(fn.Pkg.Pkg.Path(), testifyModule)
}

// disturb forgets data that a function which is not read may have changed through its pointers:
// everything but fields that only their own package can name.
func (d *Driver) disturb(s *State, args []Value) {
	choose := func(part Part) choice {
		if part.field != nil && !part.field.Exported() && !part.field.Embedded() {
			return forgetsNone
		}
		if _, ok := part.value.(Agg); ok {
			return forgetsInside
		}
		return forgetsAll
	}
	seen := map[string]bool{}
	for _, arg := range args {
		s.reach(arg, seen, func(name string) { d.forgetIn(s, name, choose) })
	}
}

// forgetAll forgets all data that can be reached from values: a function may have changed it.
func (d *Driver) forgetAll(s *State, values []Value) {
	for _, name := range d.reachable(s, values) {
		d.disturbObject(s, name)
	}
}

// forgetPlain forgets the plain data that can be reached from values: a function that only computes
// plain data was not followed.
func (d *Driver) forgetPlain(s *State, values []Value) {
	var behind []types.Type
	choose := func(part Part) choice {
		if _, ok := part.value.(Agg); ok {
			return forgetsInside
		}
		t := part.typ
		if t == nil {
			return forgetsNone
		}
		if m, ok := t.Underlying().(*types.Map); ok && part.value == nil {
			t = m.Elem()
		}
		if !plain(t, 4) {
			return forgetsNone
		}
		if aliasable(part.value) {
			// It may point to memory that is known by another name.
			behind = append(behind, t)
		}
		return forgetsAll
	}
	for _, name := range d.reachable(s, values) {
		d.forgetIn(s, name, choose)
	}
	for _, t := range behind {
		d.havocBehind(s, t)
	}
}

// reachable lists the objects that can be reached from values.
func (d *Driver) reachable(s *State, values []Value) []string {
	seen := map[string]bool{}
	var names []string
	for _, v := range values {
		s.reach(v, seen, func(name string) { names = append(names, name) })
	}
	return names
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
			d.assume(pos, "either", aboutUnknownClose)
			return false
		}
		recoverable := d.isRecoverable(s)
		open, known := s.isOpen(to.expr.name)
		switch {
		case recoverable && isNil(args[0]):
			return d.panics(s, d.runtimeError("close of nil channel"), pos)
		case recoverable && known && !open:
			return d.panics(s, d.runtimeError("close of closed channel"), pos)
		}
		if to.object != nil {
			d.closes(to.object)
		}
		d.put(&Code{op: opClose, on: to.expr, pos: pos}).recovered = recoverable && !known
		s.shuts(to.expr.name)
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
	case "SliceData":
		finish(args[0])
	case "String":
		slice, ok1 := args[0].(Slc)
		if !ok1 {
			slice, ok1 = d.elementsFrom(s, args[0])
		}
		n, ok2 := args[1].(KInt)
		if isNil(args[0]) && ok2 && n == 0 {
			finish(KStr(""))
			break
		}
		if ok1 && ok2 && int(n) <= slice.max {
			slice.n = int(n)
			if known, ok := d.sliceAsText(s, slice, types.NewSlice(types.Typ[types.Uint8])); ok {
				finish(known)
				break
			}
		}
		if site != nil {
			finish(d.derived(s, site, "string", args...))
		}
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

// closes notes that receivers may get the zero of the messages' type from now on.
func (d *Driver) closes(channel *Object) {
	key := d.messages(channel.key).find().key
	if !d.facts.closed[key] {
		d.facts.closed[key] = true
		d.changed = true
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
