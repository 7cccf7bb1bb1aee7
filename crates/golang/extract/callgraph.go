package main

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
	"golang.org/x/tools/go/types/typeutil"
)

// Graph says which functions may do something that other goroutines notice, or call code that is
// not read and may wait. It errs on the side of "may": a function value may be any function of its
// signature, and a method of an interface that of any type that is ever put into an interface.
type Graph struct {
	noticed  map[*ssa.Function]bool
	effects  map[*ssa.Function]bool // those that may also write memory which they have not made
	parallel map[*ssa.Function]bool // those that may call (*testing.T).Parallel
	boxed    []types.Type           // the types that are put into interfaces
	// boxedWith lists, for each name of a method, the boxed types whose method of that name may be
	// noticed.
	boxedWith map[string][]types.Type
	// taken are the functions that may be values, by their signatures.
	taken map[string][]*ssa.Function
}

// newGraph looks at every function of the packages that are read.
func newGraph(w *World) *Graph {
	g := &Graph{noticed: map[*ssa.Function]bool{}, effects: map[*ssa.Function]bool{}, parallel: map[*ssa.Function]bool{}, boxedWith: map[string][]types.Type{}}
	functions := ssautil.AllFunctions(w.program)
	g.boxed = boxedTypes(functions)
	w.graphTaken = map[*ssa.Function]bool{}
	callers := map[*ssa.Function][]*ssa.Function{}
	bySignature := map[string][]*ssa.Function{} // functions whose address is taken
	callersOf := map[string][]*ssa.Function{}   // functions that call a value of a signature
	methods := map[Invoked][]*ssa.Function{}
	var noticed, writing, parallel []*ssa.Function
	seen := map[*ssa.Function]bool{}
	var operands []*ssa.Value
	// A function that is not read may be called through a value or an interface.
	unread := func(other *ssa.Function) {
		if len(other.Blocks) == 0 && !seen[other] {
			seen[other] = true
			if w.isNoticedOutside(other) {
				noticed = append(noticed, other)
			}
		}
	}
	for fn := range functions {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if w.isNoticed(instr) {
					noticed = append(noticed, fn)
				} else if w.writes(instr) {
					writing = append(writing, fn)
				}
				operands = instr.Operands(operands[:0])
				for _, operand := range operands {
					if other, ok := (*operand).(*ssa.Function); ok {
						callers[other] = append(callers[other], fn)
						unread(other)
						key := signatureKey(other.Signature)
						bySignature[key] = append(bySignature[key], other)
						if call, ok := instr.(ssa.CallInstruction); !ok || call.Common().Value != *operand {
							w.graphTaken[other] = true
						}
					}
				}
				if call, ok := instr.(ssa.CallInstruction); ok {
					common := call.Common()
					if callee := common.StaticCallee(); callee != nil && callee.Name() == "Parallel" && functionName(callee) == "(*testing.T).Parallel" {
						parallel = append(parallel, fn)
					}
					if common.IsInvoke() {
						invoked := invokedBy(common)
						list, known := methods[invoked]
						if !known {
							list = g.implementations(w, invoked)
							methods[invoked] = list
						}
						for _, other := range list {
							callers[other] = append(callers[other], fn)
							unread(other)
						}
					} else if common.StaticCallee() == nil {
						if _, builtin := common.Value.(*ssa.Builtin); !builtin {
							key := signatureKey(common.Signature())
							callersOf[key] = append(callersOf[key], fn)
						}
					}
				}
				if boxing, ok := instr.(*ssa.MakeInterface); ok {
					for _, other := range w.methodsOf(boxing.X.Type()) {
						if w.calledBack[other.Name()] {
							callers[other] = append(callers[other], fn)
						}
					}
				}
			}
		}
	}
	for key, list := range bySignature {
		for _, other := range list {
			callers[other] = append(callers[other], callersOf[key]...)
		}
	}
	g.taken = bySignature
	backwards(g.noticed, noticed, callers)
	backwards(g.parallel, parallel, callers)
	backwards(g.effects, writing, callers)
	backwards(g.effects, noticed, callers)
	for _, t := range g.boxed {
		for _, method := range w.methodsOf(t) {
			w.graphTaken[method] = true
			if g.effects[method] && isCalledBack(method) {
				g.boxedWith[method.Name()] = append(g.boxedWith[method.Name()], t)
			}
		}
	}
	w.relevance = newRelevance(w, functions)
	return g
}

// boxedTypes lists the types of values that are put into interfaces, and of what is inside them.
func boxedTypes(functions map[*ssa.Function]bool) []types.Type {
	contents := &contents{}
	for fn := range functions {
		for _, b := range fn.Blocks {
			for _, instr := range b.Instrs {
				if boxing, ok := instr.(*ssa.MakeInterface); ok {
					contents.add(boxing.X.Type())
				}
			}
		}
	}
	return contents.list
}

// inside lists a type and the types of what is inside its values.
func (w *World) inside(t types.Type) []types.Type {
	list, known := w.insides[t]
	if !known {
		contents := &contents{}
		contents.add(t)
		list = contents.list
		w.insides[t] = list
	}
	return list
}

// contents collects types, and the types of what is inside their values.
type contents struct {
	seen typeutil.Map
	list []types.Type
}

func (c *contents) add(t types.Type) {
	if c.seen.At(t) != nil {
		return
	}
	c.seen.Set(t, true)
	if !types.IsInterface(t) {
		c.list = append(c.list, t)
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for field := range u.Fields() {
			c.add(field.Type())
		}
	case *types.Array:
		c.add(u.Elem())
	case *types.Slice:
		c.add(u.Elem())
	case *types.Pointer:
		c.add(u.Elem())
	case *types.Map:
		c.add(u.Key())
		c.add(u.Elem())
	}
}

// backwards marks functions, and all that may lead to them.
func backwards(marked map[*ssa.Function]bool, from []*ssa.Function, callers map[*ssa.Function][]*ssa.Function) {
	work := append([]*ssa.Function(nil), from...)
	for len(work) > 0 {
		fn := work[len(work)-1]
		work = work[:len(work)-1]
		if !marked[fn] {
			marked[fn] = true
			work = append(work, callers[fn]...)
		}
	}
}

// writes tells whether an instruction may write memory that its function has not made itself, or
// end the call in another way than by returning.
func (w *World) writes(instr ssa.Instruction) bool {
	switch i := instr.(type) {
	case *ssa.Store:
		return !isLocal(i.Addr)
	case *ssa.MapUpdate, *ssa.Panic:
		return true
	case ssa.CallInstruction:
		common := i.Common()
		if builtin, ok := common.Value.(*ssa.Builtin); ok {
			switch builtin.Name() {
			case "append", "clear", "copy":
				return !isFresh(common.Args[0], 6)
			case "delete":
				return true
			}
			return false
		}
		if callee := common.StaticCallee(); callee != nil {
			if _, outside := w.outsidePath(callee); outside {
				return !changesNothing(callee)
			}
		}
	}
	return false
}

// isFresh tells slices whose memory the function has made itself.
func isFresh(v ssa.Value, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case *ssa.Const, *ssa.MakeSlice, *ssa.Convert:
		return true
	case *ssa.Slice:
		return isLocal(v.X) || isFresh(v.X, depth-1)
	case *ssa.Call:
		builtin, ok := v.Call.Value.(*ssa.Builtin)
		return ok && builtin.Name() == "append" && isFresh(v.Call.Args[0], depth-1)
	case *ssa.Phi:
		for _, edge := range v.Edges {
			if edge != ssa.Value(v) && !isFresh(edge, depth-1) {
				return false
			}
		}
		return true
	}
	return false
}

// isLocal tells addresses in variables of the function itself.
func isLocal(address ssa.Value) bool {
	switch a := address.(type) {
	case *ssa.Alloc:
		return true
	case *ssa.FieldAddr:
		return isLocal(a.X)
	case *ssa.IndexAddr:
		return isLocal(a.X)
	}
	return false
}

// Invoked is a method of an interface, with the interface through which it is called: that may have
// more methods than the interface that declares this one.
type Invoked struct {
	method *types.Func
	on     types.Type
}

// invokedBy is what a call of an interface's method names.
func invokedBy(call *ssa.CallCommon) Invoked {
	if _, isParameter := types.Unalias(call.Value.Type()).(*types.TypeParam); isParameter {
		return declared(call.Method)
	}
	return Invoked{call.Method, call.Value.Type()}
}

// declared is a method, called through the interface that declares it.
func declared(method *types.Func) Invoked {
	if recv := method.Signature().Recv(); recv != nil {
		return Invoked{method, recv.Type()}
	}
	return Invoked{method, nil}
}

// implementations lists the methods that a call of an interface's method may lead to.
func (g *Graph) implementations(w *World, invoked Invoked) []*ssa.Function {
	if invoked.on == nil {
		return nil
	}
	target, ok := invoked.on.Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var list []*ssa.Function
	for _, t := range g.boxed {
		if types.Implements(t, target) {
			if fn := w.method(t, invoked.method); fn != nil {
				list = append(list, fn)
			}
		}
	}
	return list
}

// methodsOf lists the methods of a type that are read.
func (w *World) methodsOf(t types.Type) []*ssa.Function {
	if types.IsInterface(t) {
		return nil
	}
	set := w.program.MethodSets.MethodSet(t)
	var list []*ssa.Function
	for i := range set.Len() {
		if fn := w.program.MethodValue(set.At(i)); fn != nil && len(fn.Blocks) > 0 {
			list = append(list, fn)
		}
	}
	return list
}

// isNoticed tells whether an instruction itself is noticed by other goroutines.
func (w *World) isNoticed(instr ssa.Instruction) bool {
	switch i := instr.(type) {
	case *ssa.Go, *ssa.Send, *ssa.Select:
		return true
	case *ssa.UnOp:
		return i.Op == token.ARROW
	case ssa.CallInstruction:
		common := i.Common()
		if builtin, ok := common.Value.(*ssa.Builtin); ok {
			return builtin.Name() == "close"
		}
		if common.IsInvoke() {
			return isLoudInterface(common)
		}
		callee := common.StaticCallee()
		return callee != nil && w.isNoticedOutside(callee)
	}
	return false
}

// isNoticedOutside tells functions that are not read and that other goroutines may notice.
func (w *World) isNoticedOutside(callee *ssa.Function) bool {
	path, outside := w.outsidePath(callee)
	if !outside {
		return false
	}
	if callee.Name() == "init" && callee.Signature.Recv() == nil {
		return false
	}
	switch path {
	case "sync", "context", errgroupPackage, semaphorePackage:
		return true
	case "sync/atomic":
		return false
	}
	quiet, _ := w.quietly(callee)
	return !quiet
}

// communicates tells whether a function may do something other goroutines notice.
func (w *World) communicates(fn *ssa.Function) bool {
	if fn == nil {
		return true
	}
	if _, outside := w.outsidePath(fn); outside || len(fn.Blocks) == 0 {
		return w.isNoticedOutside(fn)
	}
	return w.graph.noticed[fn]
}

// hasEffects tells whether a function may do something that others notice, or that changes what
// others know.
func (w *World) hasEffects(fn *ssa.Function) bool {
	if _, outside := w.outsidePath(fn); outside || len(fn.Blocks) == 0 {
		return w.isNoticedOutside(fn) || !changesNothing(fn)
	}
	return w.graph.effects[fn]
}

// mayCommunicate tells whether some method that a call of an interface's method may lead to does.
func (w *World) mayCommunicate(call *ssa.CallCommon) bool {
	invoked := invokedBy(call)
	if answer, known := w.invokes[invoked]; known {
		return answer
	}
	answer := false
	for _, fn := range w.implementations(invoked) {
		answer = answer || w.communicates(fn) && !isStandardMethod(fn)
	}
	w.invokes[invoked] = answer
	return answer
}

// mayHaveEffects tells whether some method that a call of an interface's method may lead to does
// something that others notice, or changes what others know.
func (w *World) mayHaveEffects(call *ssa.CallCommon) bool {
	for _, fn := range w.implementations(invokedBy(call)) {
		if w.hasEffects(fn) && !isStandardMethod(fn) {
			return true
		}
	}
	return false
}

// isStandardMethod tells methods of types of the standard library.
func isStandardMethod(fn *ssa.Function) bool {
	recv := fn.Signature.Recv()
	return recv != nil && isStandard(recv.Type())
}
