package main

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Relevance says which numbers, strings and flags may decide anything: a condition, an index, a
// length, a capacity, an amount, a key. All others are dropped, so that a counter which is never
// tested does not make states differ. Variables in memory are told apart by where they are: a field
// of a type, the elements of a type, what a pointer to a variable may point to.
type Relevance struct {
	values  map[ssa.Value]bool
	classes map[string]bool
	parent  map[string]string
	byClass map[string][]ssa.Value // what is stored in, or flows into, a class
	numbers map[ssa.Value]string
	work    []ssa.Value
	inside  map[types.Type]bool // types whose values matter as a whole
	met     map[string]bool     // pairs of types that were made one
	boxes   bool                // is what interfaces hold compared or printed to a result?
	world   *World
}

// newRelevance looks at every function.
func newRelevance(w *World, functions map[*ssa.Function]bool) *Relevance {
	r := &Relevance{
		values: map[ssa.Value]bool{}, classes: map[string]bool{}, parent: map[string]string{},
		byClass: map[string][]ssa.Value{}, numbers: map[ssa.Value]string{}, inside: map[types.Type]bool{}, met: map[string]bool{}, world: w,
	}
	each := func(visit func(instr ssa.Instruction)) {
		for fn := range functions {
			for _, b := range fn.Blocks {
				for _, instr := range b.Instrs {
					visit(instr)
				}
			}
		}
	}
	each(r.connect)
	each(r.flow)
	each(r.seed)
	for len(r.work) > 0 {
		v := r.work[len(r.work)-1]
		r.work = r.work[:len(r.work)-1]
		r.needs(v)
	}
	return r
}

func isScalar(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Kind() != types.UnsafePointer && basic.Kind() != types.UntypedNil
}

func (r *Relevance) find(class string) string {
	for r.parent[class] != "" {
		class = r.parent[class]
	}
	return class
}

func (r *Relevance) unify(a, b string) {
	a, b = r.find(a), r.find(b)
	if a == b {
		return
	}
	r.parent[b] = a
	r.byClass[a] = append(r.byClass[a], r.byClass[b]...)
	delete(r.byClass, b)
}

// at is the class of what a pointer points to.
func (r *Relevance) at(address ssa.Value) string {
	pointer, ok := address.Type().Underlying().(*types.Pointer)
	if !ok {
		return "other"
	}
	switch a := address.(type) {
	case *ssa.FieldAddr:
		return r.find(fieldClass(a.X.Type().Underlying().(*types.Pointer).Elem(), a.Field))
	case *ssa.IndexAddr:
		return r.find(elementClass(pointer.Elem()))
	case *ssa.Alloc, *ssa.FreeVar, *ssa.Parameter, *ssa.Global, *ssa.Phi:
		name, known := r.numbers[address]
		if !known {
			name = fmt.Sprintf("variable %d", len(r.numbers))
			r.numbers[address] = name
		}
		return r.find(name)
	}
	return r.find(pointerClass(pointer.Elem()))
}

// classAt is the class of what a pointer points to. It asks only for what is known already.
func (r *Relevance) classAt(address ssa.Value) string {
	switch address.(type) {
	case *ssa.Alloc, *ssa.FreeVar, *ssa.Parameter, *ssa.Global, *ssa.Phi:
		if name, known := r.numbers[address]; known {
			return r.find(name)
		}
		return r.find(pointerClass(address.Type().Underlying().(*types.Pointer).Elem()))
	}
	return r.at(address)
}

func fieldClass(t types.Type, field int) string {
	return fmt.Sprintf("field %s %d", typeName(t), field)
}
func elementClass(t types.Type) string { return "elements " + typeName(t) }
func pointerClass(t types.Type) string { return "pointer " + typeName(t) }
func boxClass(t types.Type) string     { return "box " + typeName(t) }
func entryClass(t types.Type) string   { return "entries " + typeName(t) }
func messageClass(t types.Type) string { return "messages " + typeName(t) }
func paramClass(signature *types.Signature, i int) string {
	return fmt.Sprintf("param %d %s", i, signatureKey(signature))
}
func resultClass(signature *types.Signature, i int) string {
	return fmt.Sprintf("result %d %s", i, signatureKey(signature))
}

// pointersMeet makes the classes of two pointers one: either may be the other.
func (r *Relevance) pointersMeet(a, b ssa.Value) {
	if _, ok := a.Type().Underlying().(*types.Pointer); !ok {
		return
	}
	if _, ok := b.Type().Underlying().(*types.Pointer); !ok {
		return
	}
	r.unify(r.at(a), r.at(b))
}

// leaves: a pointer goes where it is known only by its type.
func (r *Relevance) leaves(v ssa.Value) {
	if pointer, ok := v.Type().Underlying().(*types.Pointer); ok {
		r.unify(r.at(v), pointerClass(pointer.Elem()))
	}
}

// connect finds which pointers may point to the same variables.
func (r *Relevance) connect(instr ssa.Instruction) {
	switch i := instr.(type) {
	case *ssa.Phi:
		for _, edge := range i.Edges {
			r.pointersMeet(i, edge)
		}
	case *ssa.MakeClosure:
		for k, free := range i.Fn.(*ssa.Function).FreeVars {
			r.pointersMeet(free, i.Bindings[k])
		}
	case ssa.CallInstruction:
		common := i.Common()
		callee := common.StaticCallee()
		for k, arg := range common.Args {
			if callee != nil && k < len(callee.Params) && len(callee.Blocks) > 0 {
				r.pointersMeet(callee.Params[k], arg)
			} else {
				r.leaves(arg)
			}
		}
		if common.IsInvoke() || callee == nil {
			r.leaves(common.Value)
		}
	case *ssa.Store, *ssa.Send, *ssa.MapUpdate, *ssa.Return, *ssa.MakeInterface, *ssa.ChangeType, *ssa.Convert, *ssa.Panic, *ssa.Select:
		for _, operand := range instr.Operands(nil) {
			if *operand == nil {
				continue
			}
			if store, ok := instr.(*ssa.Store); ok && *operand == store.Addr {
				continue
			}
			r.leaves(*operand)
		}
	}
	switch i := instr.(type) {
	case *ssa.ChangeType:
		r.typesMeet(i.X.Type(), i.Type())
	case *ssa.Convert:
		r.typesMeet(i.X.Type(), i.Type())
	case *ssa.MultiConvert:
		r.typesMeet(i.X.Type(), i.Type())
	}
	// A function that is called by its value may be called with any pointer of the type.
	if fn := instr.Parent(); instr == firstInstruction(fn) && r.world.graphTaken[fn] {
		for _, param := range fn.Params {
			r.leaves(param)
		}
	}
}

// typesMeet makes the classes of the parts of two types one: values of one are converted to the other.
func (r *Relevance) typesMeet(a, b types.Type) {
	pair := typeName(a) + " to " + typeName(b)
	if types.Identical(a, b) || r.met[pair] {
		return
	}
	r.met[pair] = true
	part := func(class func(types.Type) string, a, b types.Type) {
		r.unify(class(a), class(b))
		r.typesMeet(a, b)
	}
	switch from := a.Underlying().(type) {
	case *types.Struct:
		if to, ok := b.Underlying().(*types.Struct); ok && to.NumFields() == from.NumFields() {
			for i := range from.NumFields() {
				r.unify(fieldClass(a, i), fieldClass(b, i))
				r.typesMeet(from.Field(i).Type(), to.Field(i).Type())
			}
		}
	case *types.Pointer:
		if to, ok := b.Underlying().(*types.Pointer); ok {
			part(pointerClass, from.Elem(), to.Elem())
		}
	case *types.Slice:
		switch to := b.Underlying().(type) {
		case *types.Slice:
			part(elementClass, from.Elem(), to.Elem())
		case *types.Array:
			part(elementClass, from.Elem(), to.Elem())
		}
	case *types.Array:
		if to, ok := b.Underlying().(*types.Array); ok {
			part(elementClass, from.Elem(), to.Elem())
		}
	case *types.Map:
		if to, ok := b.Underlying().(*types.Map); ok {
			r.typesMeet(from.Key(), to.Key())
			part(entryClass, from.Elem(), to.Elem())
		}
	case *types.Chan:
		if to, ok := b.Underlying().(*types.Chan); ok {
			part(messageClass, from.Elem(), to.Elem())
		}
	case *types.Signature:
		if to, ok := b.Underlying().(*types.Signature); ok {
			for i := range from.Params().Len() {
				r.unify(paramClass(from, i), paramClass(to, i))
				r.typesMeet(from.Params().At(i).Type(), to.Params().At(i).Type())
			}
			for i := range from.Results().Len() {
				r.unify(resultClass(from, i), resultClass(to, i))
				r.typesMeet(from.Results().At(i).Type(), to.Results().At(i).Type())
			}
		}
	}
}

func firstInstruction(fn *ssa.Function) ssa.Instruction {
	if len(fn.Blocks) == 0 || len(fn.Blocks[0].Instrs) == 0 {
		return nil
	}
	return fn.Blocks[0].Instrs[0]
}

func (r *Relevance) into(class string, v ssa.Value) {
	class = r.find(class)
	r.byClass[class] = append(r.byClass[class], v)
}

// flow notes what is stored where.
func (r *Relevance) flow(instr ssa.Instruction) {
	switch i := instr.(type) {
	case *ssa.Store:
		if isScalar(i.Val.Type()) {
			r.into(r.at(i.Addr), i.Val)
		}
	case *ssa.Send:
		r.into(messageClass(i.X.Type()), i.X)
	case *ssa.Select:
		for _, state := range i.States {
			if state.Send != nil {
				r.into(messageClass(state.Send.Type()), state.Send)
			}
		}
	case *ssa.MapUpdate:
		r.into(entryClass(i.Value.Type()), i.Value)
	case *ssa.MakeInterface:
		r.into(boxClass(i.X.Type()), i.X)
	case *ssa.Return:
		for k, result := range i.Results {
			r.into(resultClass(i.Parent().Signature, k), result)
		}
	case *ssa.MakeClosure:
		for k, free := range i.Fn.(*ssa.Function).FreeVars {
			r.into(fmt.Sprintf("free %p", free), i.Bindings[k])
		}
	case ssa.CallInstruction:
		common := i.Common()
		if builtin, ok := common.Value.(*ssa.Builtin); ok {
			if builtin.Name() == "append" || builtin.Name() == "copy" {
				if len(common.Args) > 1 && isScalar(common.Args[1].Type()) {
					r.into(elementClass(types.Typ[types.Uint8]), common.Args[1])
				}
			}
			return
		}
		offset := 0
		if callee := common.StaticCallee(); callee != nil && callee.Signature.Recv() != nil {
			offset = 1
		}
		for k, arg := range common.Args {
			if k >= offset {
				r.into(paramClass(common.Signature(), k-offset), arg)
			} else if isScalar(arg.Type()) {
				r.value(arg)
			}
		}
	}
}

// seed marks what decides something.
func (r *Relevance) seed(instr ssa.Instruction) {
	switch i := instr.(type) {
	case *ssa.If:
		r.value(i.Cond)
	case *ssa.IndexAddr:
		r.value(i.Index)
	case *ssa.Index:
		r.value(i.Index)
	case *ssa.Slice:
		for _, v := range []ssa.Value{i.Low, i.High, i.Max} {
			if v != nil {
				r.value(v)
			}
		}
	case *ssa.MakeSlice:
		r.value(i.Len)
		r.value(i.Cap)
	case *ssa.MakeChan:
		r.value(i.Size)
	case *ssa.Lookup:
		r.value(i.Index)
	case *ssa.MapUpdate:
		r.value(i.Key)
	case *ssa.BinOp:
		switch i.Op {
		case token.EQL, token.NEQ:
			if !isScalar(i.X.Type()) {
				r.contents(i.X.Type())
			}
		case token.QUO, token.REM:
			if basic, ok := i.X.Type().Underlying().(*types.Basic); ok && basic.Info()&types.IsInteger != 0 {
				r.value(i.Y) // zero panics
			}
		case token.SHL, token.SHR:
			if basic, ok := i.Y.Type().Underlying().(*types.Basic); ok && basic.Info()&types.IsUnsigned == 0 {
				r.value(i.Y) // what is negative panics
			}
		}
	case ssa.CallInstruction:
		r.seedCall(i)
	}
}

// contents: everything inside values of a type matters.
func (r *Relevance) contents(t types.Type) {
	if r.inside[t] {
		return
	}
	r.inside[t] = true
	part := func(class string, t types.Type) {
		r.class(class)
		r.contents(t)
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		r.allBoxes()
	case *types.Struct:
		for i := range u.NumFields() {
			part(fieldClass(t, i), u.Field(i).Type())
		}
	case *types.Array:
		part(elementClass(u.Elem()), u.Elem())
	case *types.Slice:
		part(elementClass(u.Elem()), u.Elem())
	case *types.Map:
		part(entryClass(u.Elem()), u.Elem())
	case *types.Pointer:
		part(pointerClass(u.Elem()), u.Elem())
	}
}

func (r *Relevance) allBoxes() {
	if r.boxes {
		return
	}
	r.boxes = true
	for class := range r.byClass {
		if len(class) > 4 && class[:4] == "box " {
			r.class(class)
		}
	}
}

func (r *Relevance) seedCall(i ssa.CallInstruction) {
	common := i.Common()
	callee := common.StaticCallee()
	if builtin, ok := common.Value.(*ssa.Builtin); ok {
		if builtin.Name() == "delete" {
			r.value(common.Args[1])
		}
		return
	}
	for _, arg := range common.Args {
		if signature, ok := arg.Type().Underlying().(*types.Signature); ok && (callee == nil || len(callee.Blocks) == 0 || isModelled(callee)) {
			// What is called by code that is not read decides what that does.
			for k := range signature.Results().Len() {
				r.class(resultClass(signature, k))
			}
		}
	}
	if callee == nil || callee.Pkg == nil {
		return
	}
	path := callee.Pkg.Pkg.Path()
	if isModelled(callee) && path != "testing" && path != "sync/atomic" || path == "math/rand" || path == "math/rand/v2" || path == "os" {
		for _, arg := range common.Args {
			r.value(arg)
		}
	}
	if takesBase[functionName(callee)] {
		r.value(common.Args[len(common.Args)-1])
	}
	if path == "sync/atomic" && len(common.Args) > 1 {
		for _, arg := range common.Args[1:] {
			if isScalar(arg.Type()) {
				r.value(arg) // kept: they are few, and operations on them are steps
			}
		}
	}
}
