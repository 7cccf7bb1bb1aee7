// What a value that matters depends on: the second half of Relevance.

package main

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"
)

func (r *Relevance) value(v ssa.Value) {
	if v == nil || r.values[v] {
		return
	}
	switch v.(type) {
	case *ssa.Const, *ssa.Function, *ssa.Global, *ssa.Builtin:
		return
	}
	r.values[v] = true
	r.work = append(r.work, v)
	if !isScalar(v.Type()) {
		r.contents(v.Type())
	}
}

func (r *Relevance) class(class string) {
	class = r.find(class)
	if r.classes[class] {
		return
	}
	r.classes[class] = true
	for _, v := range r.byClass[class] {
		r.value(v)
	}
}

// needs marks what a value is computed from.
func (r *Relevance) needs(v ssa.Value) {
	operands := func(all ...ssa.Value) {
		for _, one := range all {
			r.value(one)
		}
	}
	switch i := v.(type) {
	case *ssa.Phi:
		operands(i.Edges...)
	case *ssa.BinOp:
		operands(i.X, i.Y)
	case *ssa.Convert:
		r.value(i.X)
		if slice, ok := i.X.Type().Underlying().(*types.Slice); ok {
			r.class(elementClass(slice.Elem()))
		}
		if slice, ok := i.Type().Underlying().(*types.Slice); ok {
			r.class(elementClass(slice.Elem()))
		}
	case *ssa.MultiConvert:
		r.value(i.X)
	case *ssa.ChangeType:
		r.value(i.X)
	case *ssa.UnOp:
		switch i.Op {
		case token.MUL:
			if isScalar(i.Type()) {
				r.class(r.at(i.X))
			}
		case token.ARROW:
			r.class(messageClass(i.X.Type().Underlying().(*types.Chan).Elem()))
		default:
			r.value(i.X)
		}
	case *ssa.Field:
		r.class(fieldClass(i.X.Type(), i.Field))
	case *ssa.Index:
		r.value(i.X)
		if array, ok := i.X.Type().Underlying().(*types.Array); ok {
			r.class(elementClass(array.Elem()))
		}
	case *ssa.Lookup:
		r.value(i.X)
		if m, ok := i.X.Type().Underlying().(*types.Map); ok {
			r.class(entryClass(m.Elem()))
		}
	case *ssa.TypeAssert:
		r.class(boxClass(i.AssertedType))
	case *ssa.Slice:
		r.value(i.X)
	case *ssa.Extract:
		r.extracted(i)
	case *ssa.Parameter:
		r.parameter(i)
	case *ssa.FreeVar:
		r.class(fmt.Sprintf("free %p", i))
	case *ssa.Call:
		r.called(i, 0)
	}
}

func (r *Relevance) extracted(i *ssa.Extract) {
	switch tuple := i.Tuple.(type) {
	case *ssa.Call:
		r.called(tuple, i.Index)
	case *ssa.UnOp:
		r.class(messageClass(tuple.X.Type().Underlying().(*types.Chan).Elem()))
	case *ssa.Lookup:
		if m, ok := tuple.X.Type().Underlying().(*types.Map); ok {
			r.class(entryClass(m.Elem()))
		}
	case *ssa.TypeAssert:
		r.class(boxClass(tuple.AssertedType))
	case *ssa.Next:
		if text, ok := tuple.Iter.(*ssa.Range); ok {
			r.value(text.X)
			if m, ok := text.X.Type().Underlying().(*types.Map); ok {
				r.class(entryClass(m.Elem()))
			}
		}
	case *ssa.Select:
		for _, state := range tuple.States {
			if state.Send == nil {
				r.class(messageClass(state.Chan.Type().Underlying().(*types.Chan).Elem()))
			}
		}
	}
}

func (r *Relevance) parameter(p *ssa.Parameter) {
	fn := p.Parent()
	for k, other := range fn.Params {
		if other != p {
			continue
		}
		if fn.Signature.Recv() != nil {
			k--
		}
		if k >= 0 {
			r.class(paramClass(fn.Signature, k))
		}
	}
}

// called: the result of a call matters.
func (r *Relevance) called(i *ssa.Call, index int) {
	common := &i.Call
	if _, ok := common.Value.(*ssa.Builtin); ok {
		for _, arg := range common.Args {
			r.value(arg)
		}
		return
	}
	callee := common.StaticCallee()
	if callee != nil && len(callee.Blocks) > 0 && !isModelled(callee) {
		r.class(resultClass(callee.Signature, index))
		return
	}
	r.class(resultClass(common.Signature(), index))
	if callee == nil && common.IsInvoke() && common.Method.Name() == "Error" {
		// The text of an error was made of what was in interfaces.
		r.allBoxes()
	}
	if callee != nil && returnsText(callee) {
		r.class(textClass)
		r.class(marshalClass)
		r.class(elementClass(byteType))
	}
	// A function that is not read computes with everything it is given.
	for _, arg := range common.Args {
		r.value(arg)
		if _, ok := arg.Type().Underlying().(*types.Pointer); ok {
			r.class(r.at(arg))
		}
	}
}

// textClass is the class of what methods such as String return, marshalClass that of MarshalJSON.
var (
	textClass    = methodClass(types.Typ[types.String])
	marshalClass = methodClass(types.NewSlice(byteType), errorType)
)

// byteType is byte as sources name it.
var byteType = types.Universe.Lookup("byte").Type()

// methodClass is the class of the first result of methods without arguments.
func methodClass(results ...types.Type) string {
	var vars []*types.Var
	for _, result := range results {
		vars = append(vars, types.NewVar(token.NoPos, nil, "", result))
	}
	return resultClass(types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(vars...), false), 0)
}

// textsMatter tells whether what methods such as String return may decide anything.
func (r *Relevance) textsMatter() bool { return r.classes[r.find(textClass)] }

// drops tells whether the value of an instruction decides nothing.
func (r *Relevance) drops(v ssa.Value) bool {
	return isScalar(v.Type()) && !r.values[v]
}

// dropsStore tells whether what is stored decides nothing.
func (r *Relevance) dropsStore(i *ssa.Store) bool {
	return isScalar(i.Val.Type()) && !r.classes[r.find(r.at(i.Addr))]
}

// signatureKey writes the types of a signature, without names.
func signatureKey(signature *types.Signature) string {
	if key, ok := signatureKeys.Load(signature); ok {
		return key.(string)
	}
	var b strings.Builder
	for i := range signature.Params().Len() {
		b.WriteString(typeName(signature.Params().At(i).Type()) + ",")
	}
	b.WriteString("->")
	for i := range signature.Results().Len() {
		b.WriteString(typeName(signature.Results().At(i).Type()) + ",")
	}
	signatureKeys.Store(signature, b.String())
	return b.String()
}

var signatureKeys sync.Map
