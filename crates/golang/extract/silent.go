package main

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A function is silent if neither it nor anything that it may call does what other goroutines can
// notice, ends a goroutine, recovers a panic, or stores channels and locks. A call of a silent
// function need not be followed: it is enough to forget everything that it may write, and to know
// that it may panic.

// Silence is what is known of a silent function, together with everything that it may call.
type Silence struct {
	panics    bool // may call panic
	functions map[*ssa.Function]bool
	// The memory that it may write: fields of structs, package variables, and memory of some types
	// wherever it is.
	fields  map[*types.Var]bool
	globals map[*ssa.Global]bool
	kinds   []types.Type
	exposed []types.Type // memory of these types is used through unsafe pointers from now on
}

// mostSilent is how many functions a silent function may lead to.
const mostSilent = 1500

// silence is what is known of a function if it is silent.
func (w *World) silence(fn *ssa.Function) *Silence {
	known, found := w.silences[fn]
	if !found {
		known = w.findSilence(fn)
		w.silences[fn] = known
	}
	return known
}

func (w *World) findSilence(fn *ssa.Function) *Silence {
	q := &Silence{functions: map[*ssa.Function]bool{}, fields: map[*types.Var]bool{}, globals: map[*ssa.Global]bool{}}
	stack := []*ssa.Function{fn}
	for len(stack) > 0 {
		one := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if q.functions[one] {
			continue
		}
		if !w.isReadable(one) {
			if w.outsideBreaksSilence(one) {
				return nil
			}
			continue
		}
		if w.graph.noticed[one] || len(q.functions) > mostSilent {
			return nil
		}
		q.functions[one] = true
		for _, b := range one.Blocks {
			for _, instr := range b.Instrs {
				if w.breaksSilence(instr) {
					return nil
				}
				w.collectWritten(q, instr)
			}
		}
		mentions := w.mentionsOf(one)
		stack = append(append(stack, mentions.functions...), mentions.taken...)
		for _, method := range mentions.boxed {
			if w.calledBack[method.Name()] {
				stack = append(stack, method)
			}
		}
		for _, method := range mentions.methods {
			stack = append(stack, w.implementations(method)...)
		}
		for _, signature := range mentions.values {
			stack = append(stack, w.graph.taken[signature]...)
		}
	}
	return q
}

// isReadable tells functions whose source is followed.
func (w *World) isReadable(fn *ssa.Function) bool {
	_, outside := w.outsidePath(fn)
	return !outside && len(fn.Blocks) > 0
}

// breaksSilence tells instructions that a call which is not followed must not perform.
func (w *World) breaksSilence(instr ssa.Instruction) bool {
	switch i := instr.(type) {
	case *ssa.Store:
		return holdsConcurrency(i.Val.Type())
	case *ssa.MapUpdate:
		return holdsConcurrency(i.Value.Type()) || holdsConcurrency(i.Key.Type())
	case *ssa.ChangeType:
		// The fields of the memory have other names from now on.
		pointer, ok := i.Type().Underlying().(*types.Pointer)
		return ok && !isScalar(pointer.Elem())
	case ssa.CallInstruction:
		return w.callBreaksSilence(i.Common())
	}
	return false
}

func (w *World) callBreaksSilence(call *ssa.CallCommon) bool {
	if builtin, ok := call.Value.(*ssa.Builtin); ok {
		switch builtin.Name() {
		case "recover", "close":
			return true
		case "append", "copy", "clear":
			slice, ok := call.Args[0].Type().Underlying().(*types.Slice)
			if !ok {
				return builtin.Name() != "clear"
			}
			return holdsConcurrency(slice.Elem())
		}
		return false
	}
	if call.IsInvoke() && !quietInterface(call) {
		return true
	}
	callee := call.StaticCallee()
	if callee != nil && w.isReadable(callee) {
		return false
	}
	if callee == nil && !call.IsInvoke() && mayBeModel(call.Signature()) {
		return true
	}
	if callee != nil && w.keeps(call, callee) {
		return true
	}
	// Code that is not read may be called: what it calls back has to be known.
	for _, arg := range call.Args {
		if w.mayLeadElsewhere(arg, callee, 4) {
			return true
		}
	}
	return false
}

// mayBeModel tells signatures of functions that models return, such as the one that cancels a
// context: what is called may be one of them.
func mayBeModel(signature *types.Signature) bool {
	params := signature.Params()
	return params.Len() == 0 || params.Len() == 1 && types.Identical(params.At(0).Type(), errorType)
}

// outsideBreaksSilence tells functions that are not read and may do more than write the memory that
// they are given.
func (w *World) outsideBreaksSilence(fn *ssa.Function) bool {
	if isAtomicFunction(fn) {
		return false
	}
	if isModelled(fn) {
		return true
	}
	quiet, _ := w.quietly(fn)
	return !quiet || callsLater[functionName(fn)] || setsPlain[functionName(fn)]
}

// isAtomicFunction tells the functions of sync/atomic for numbers: they write what their first
// argument points to.
func isAtomicFunction(fn *ssa.Function) bool {
	if fn.Pkg == nil || fn.Pkg.Pkg.Path() != "sync/atomic" || fn.Signature.Recv() != nil || fn.Signature.Params().Len() == 0 {
		return false
	}
	pointer, ok := fn.Signature.Params().At(0).Type().Underlying().(*types.Pointer)
	return ok && isScalar(pointer.Elem())
}

// mayLeadElsewhere tells whether code that is not read may call something by a value that is not
// mentioned in the function which hands it over, and that has effects.
func (w *World) mayLeadElsewhere(v ssa.Value, callee *ssa.Function, depth int) bool {
	switch v := v.(type) {
	case *ssa.Const, *ssa.Function, *ssa.MakeClosure, *ssa.MakeInterface:
		return false
	case *ssa.Slice:
		array, ok := v.X.(*ssa.Alloc)
		if ok && array.Comment == "varargs" && depth > 0 {
			return anyStored(array, func(stored ssa.Value) bool { return w.mayLeadElsewhere(stored, callee, depth-1) })
		}
	}
	if isUnreadType(v.Type(), w) {
		return false
	}
	target, ok := v.Type().Underlying().(*types.Interface)
	if !ok {
		return mayHoldMethods(v.Type(), 4)
	}
	names := w.calledBack
	if callee != nil && isPrinting(callee) && !writes(callee) {
		names = printed
	}
	for name := range names {
		for _, boxed := range w.graph.boxedWith[name] {
			if types.Implements(boxed, target) && !isStandard(boxed) {
				return true
			}
		}
	}
	return callee == nil || !changesNothing(callee)
}

// isUnreadType tells types of packages that are not read: that they were given something to call was
// noted when they were.
func isUnreadType(t types.Type, w *World) bool {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || types.IsInterface(named) || named.TypeArgs().Len() > 0 {
		return false
	}
	p := w.program.Package(named.Obj().Pkg())
	return p == nil || !w.roots[p]
}

// anyStored tells whether something that matters is stored in an element of an array.
func anyStored(array *ssa.Alloc, matters func(ssa.Value) bool) bool {
	for _, referrer := range *array.Referrers() {
		element, ok := referrer.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		for _, use := range *element.Referrers() {
			if store, ok := use.(*ssa.Store); ok && matters(store.Val) {
				return true
			}
		}
	}
	return false
}

// collectWritten adds the memory that an instruction may write.
func (w *World) collectWritten(q *Silence, instr ssa.Instruction) {
	if isUnsafe(instr) {
		for _, operand := range instr.Operands(nil) {
			if *operand != nil {
				q.exposed = addType(q.exposed, behind((*operand).Type()))
			}
		}
	}
	switch i := instr.(type) {
	case *ssa.Panic:
		q.panics = true
	case *ssa.Store:
		q.writes(i.Addr)
	case *ssa.MapUpdate:
		q.kinds = addType(q.kinds, i.Map.Type())
	case ssa.CallInstruction:
		w.collectWrittenByCall(q, i.Common())
	}
}

func (w *World) collectWrittenByCall(q *Silence, call *ssa.CallCommon) {
	if builtin, ok := call.Value.(*ssa.Builtin); ok {
		switch builtin.Name() {
		case "append", "copy", "clear", "delete":
			q.kinds = addType(q.kinds, behind(call.Args[0].Type()))
		}
		return
	}
	callee := call.StaticCallee()
	switch {
	case callee != nil && (w.isReadable(callee) || changesNothing(callee)):
		return
	case callee != nil && isAtomicFunction(callee):
		q.writes(call.Args[0])
		return
	}
	for _, arg := range call.Args {
		w.collectHanded(q, arg, 4)
	}
	if call.IsInvoke() {
		q.kinds = addType(q.kinds, behind(call.Value.Type()))
	}
}

// collectHanded adds the memory that code which is not read may write by a value.
func (w *World) collectHanded(q *Silence, v ssa.Value, depth int) {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		for _, t := range w.inside(v.X.Type()) {
			q.kinds = addType(q.kinds, t)
		}
		return
	case *ssa.Slice:
		array, ok := v.X.(*ssa.Alloc)
		if ok && array.Comment == "varargs" && depth > 0 {
			anyStored(array, func(stored ssa.Value) bool { w.collectHanded(q, stored, depth-1); return false })
			return
		}
	}
	if t := behind(v.Type()); t != nil {
		for _, inner := range w.inside(t) {
			q.kinds = addType(q.kinds, inner)
		}
	}
}

// writes adds what is stored at an address.
func (q *Silence) writes(address ssa.Value) {
	if isLocal(address) {
		return
	}
	switch a := address.(type) {
	case *ssa.Global:
		q.globals[a] = true
	case *ssa.FieldAddr:
		pointer := a.X.Type().Underlying().(*types.Pointer)
		q.fields[fieldOf(pointer.Elem(), a.Field).Origin()] = true
	default:
		q.kinds = addType(q.kinds, behind(address.Type()))
	}
}

// behind is the type of what values of a type point to; a map stands for itself.
func behind(t types.Type) types.Type {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return u.Elem()
	case *types.Slice:
		return u.Elem()
	case *types.Map:
		return t
	}
	return nil
}

func addType(list []types.Type, t types.Type) []types.Type {
	if t == nil || slices.ContainsFunc(list, func(other types.Type) bool { return types.Identical(other, t) }) {
		return list
	}
	return append(list, t)
}

// forgetSilence forgets everything that a silent function may have written.
func (d *Driver) forgetSilence(s *State, q *Silence) {
	isWritten := func(t types.Type) bool {
		return slices.ContainsFunc(q.kinds, func(kind types.Type) bool {
			return types.Identical(kind.Underlying(), t.Underlying())
		})
	}
	choose := func(part Part) choice {
		switch {
		case part.field != nil && q.fields[part.field.Origin()]:
			return forgetsAll
		case part.typ == nil:
			return forgetsNone
		case isWritten(part.typ):
			return forgetsAll
		}
		switch part.typ.Underlying().(type) {
		case *types.Struct, *types.Array:
			return forgetsInside
		}
		return forgetsNone
	}
	d.steps += len(s.heap) / 2
	for _, name := range sortedKeys(s.heap) {
		d.forgetIn(s, name, choose)
		o := s.heap[name]
		if o == nil || o.kind != "memory" || o.typ == nil {
			continue
		}
		for _, t := range q.exposed {
			if d.world.mayHold(o.typ, t) {
				d.exposes(s, Ptr{name, ""})
			}
		}
	}
	var changed []string
	for global := range q.globals {
		if d.needed[global] || !d.world.isRoot(global.Pkg) {
			changed = append(changed, d.global(s, global).(Ptr).object)
		}
	}
	slices.Sort(changed)
	for _, name := range changed {
		d.disturbObject(s, name)
	}
}

// holdsType tells whether memory of a type holds memory of another one.
func holdsType(t, other types.Type, depth int) bool {
	if depth == 0 || types.Identical(t.Underlying(), other.Underlying()) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for field := range u.Fields() {
			if holdsType(field.Type(), other, depth-1) {
				return true
			}
		}
	case *types.Array:
		return holdsType(u.Elem(), other, depth-1)
	}
	return false
}
