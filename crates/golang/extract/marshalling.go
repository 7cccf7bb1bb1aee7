package main

import (
	"encoding/json"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file performs json.Marshal in the way in which functions of fmt are performed: MarshalJSON
// methods are called one after the other, and encoding/json itself makes the text. json.Unmarshal is
// performed for plain variables.

const marshalName = "encoding/json.Marshal"

// marshalVerb stands for json.Marshal where a verb of fmt could be.
const marshalVerb = 'J'

// marshalledValue is a value with a MarshalJSON method: what that returns.
type marshalledValue struct{ text string }

func (m marshalledValue) MarshalJSON() ([]byte, error) { return []byte(m.text), nil }

func (p *printer) isMarshal() bool { return functionName(p.target.fn) == marshalName }

// canMarshal tells whether a value is encoded as this file does it: fields that may be left out,
// embedded fields, pointers and methods other than MarshalJSON are not followed.
func (p *printer) canMarshal(v Value, t types.Type) bool {
	own := p.d.world.methodNamed(t, "MarshalJSON")
	if p.d.world.methodNamed(t, "MarshalText") != nil || own != nil && !marshals(own) {
		return false
	}
	if _, isPointer := t.Underlying().(*types.Pointer); isPointer {
		return own != nil && !isNil(v)
	}
	pointer := types.NewPointer(t)
	if own == nil && p.d.world.methodNamed(pointer, "MarshalJSON") != nil || p.d.world.methodNamed(pointer, "MarshalText") != nil {
		return false
	}
	structure, ok := t.Underlying().(*types.Struct)
	if !ok || own != nil {
		return true
	}
	for i := range structure.NumFields() {
		tag := structure.Tag(i)
		if structure.Field(i).Embedded() || !structure.Field(i).Exported() || strings.Contains(tag, ",") || strings.Contains(tag, "-") {
			return false
		}
	}
	return true
}

// marshals tells methods that encoding/json calls from others of the same name.
func marshals(fn *ssa.Function) bool {
	params, results := fn.Signature.Params(), fn.Signature.Results()
	return params.Len() == 0 && results.Len() == 2 && types.Identical(results.At(0).Type(), types.NewSlice(types.Typ[types.Uint8])) &&
		types.Identical(results.At(1).Type(), errorType)
}

// marshal is the text that json.Marshal makes of its argument; it is not followed if that fails.
func (p *printer) marshal() (Value, bool) {
	out, err := json.Marshal(p.in[0])
	if err != nil || len(out) > largestBuffer {
		return nil, false
	}
	return KStr(out), true
}

// marshalled lists the methods that json.Marshal may still call where it cannot be followed.
func (p *printer) marshalled() []callback {
	if len(p.texts) == 0 {
		return p.d.callbacks(p.s, p.target)
	}
	// It stops at the first error.
	if len(p.effects(len(p.texts))) > 0 {
		return []callback{{}}
	}
	return nil
}

// marshalledText is what a MarshalJSON method has returned, if it has returned no error.
func (d *Driver) marshalledText(s *State, result Value) Value {
	if both, ok := result.(Tup); ok && len(both.elems) == 2 && isNil(both.elems[1]) {
		if slice, ok := both.elems[0].(Slc); ok && !s.escaped[slice.object] {
			if known, ok := d.sliceAsText(s, slice, types.NewSlice(types.Typ[types.Uint8])); ok {
				return known
			}
		}
	}
	return Sym{"«?»"}
}

// marshalResult is what json.Marshal returns.
func (d *Driver) marshalResult(s *State, call *ssa.Call, text string) Value {
	room := cap(append([]byte(nil), text...))
	slice := types.NewSlice(types.Typ[types.Uint8])
	elems, _ := d.appended(s, KStr(text), slice, "", call.Pos())
	return Tup{[]Value{d.newSlice(s, call, slice, elems, room), KNil{}}}
}

// unmarshals performs json.Unmarshal of a known text into a variable of numbers, strings and flags,
// if it succeeds.
func (d *Driver) unmarshals(s *State, site ssa.Instruction, target Target, pos token.Pos) bool {
	text, ok := d.native(s, target.args[0], reflect.TypeFor[[]byte]())
	to, isIfc := target.args[1].(Ifc)
	if !ok || !isIfc || to.typ == nil {
		return false
	}
	pointer, isPointer := to.typ.(*types.Pointer)
	place, isPtr := to.v.(Ptr)
	if !isPointer || !isPtr || !d.canUnmarshal(pointer.Elem(), 0) {
		return false
	}
	o := s.heap[place.object]
	if o == nil || o.kind != "memory" || s.escaped[place.object] {
		return false
	}
	p := &printer{calling: calling{d: d, s: s, seen: map[string]bool{}}, target: target, exact: true}
	before := p.show(partOf(o.value, place.path), pointer.Elem(), visit{verb: 'T'}, 1, true)
	if !p.exact || !before.IsValid() {
		return false
	}
	variable := reflect.New(before.Type())
	variable.Elem().Set(before)
	if json.Unmarshal(text.Bytes(), variable.Interface()) != nil {
		return false
	}
	now, ok := d.unmarshalled(s, site, variable.Elem(), pointer.Elem())
	if ok {
		d.store(s, place, now, pos)
	}
	return ok
}

// canUnmarshal tells types of numbers, strings, flags and structs of these, without methods that
// encoding/json would call.
func (d *Driver) canUnmarshal(t types.Type, depth int) bool {
	pointer := types.NewPointer(t)
	if depth > 4 || d.world.methodNamed(pointer, "UnmarshalJSON") != nil || d.world.methodNamed(pointer, "UnmarshalText") != nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basicType(u) != nil
	case *types.Struct:
		for field := range u.Fields() {
			if field.Embedded() || !d.canUnmarshal(field.Type(), depth+1) {
				return false
			}
		}
		return true
	}
	return false
}

// unmarshalled is a value of this program as a known value.
func (d *Driver) unmarshalled(s *State, site ssa.Instruction, v reflect.Value, t types.Type) (Value, bool) {
	structure, ok := t.Underlying().(*types.Struct)
	if !ok {
		return d.known(s, site, v, t, 0)
	}
	elems := make([]Value, structure.NumFields())
	for i := range elems {
		if elems[i], ok = d.unmarshalled(s, site, v.Field(i), structure.Field(i).Type()); !ok {
			return nil, false
		}
	}
	return Agg{elems}, true
}
