package main

import (
	"errors"
	"fmt"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// This file makes the errors of functions that are called with known arguments.

// sentinelTexts are the texts of errors that are variables of packages which are not read.
var sentinelTexts = map[KStr]string{
	"context.Canceled": "context canceled", "strconv.ErrSyntax": "invalid syntax", "strconv.ErrRange": "value out of range",
}

// nativeError is an error that a function of the standard library has returned.
func (d *Driver) nativeError(s *State, site ssa.Instruction, what string, err error) Value {
	switch err {
	case strconv.ErrSyntax:
		return d.sentinel("strconv", "ErrSyntax")
	case strconv.ErrRange:
		return d.sentinel("strconv", "ErrRange")
	}
	var number *strconv.NumError
	if t := d.world.typeOf("strconv", "NumError"); t != nil && errors.As(err, &number) {
		inner := d.nativeError(s, site, what+" inner", number.Err)
		key := here(s.top()) + fmt.Sprintf("%s %p", what, site)
		object := d.newObject(s, "error", key, t, site.Pos()).(Ptr)
		d.replacePart(s, object.object, "/0", KStr(number.Func))
		d.replacePart(s, object.object, "/1", KStr(number.Num))
		d.replacePart(s, object.object, "/2", inner)
		return Ifc{types.NewPointer(t), object}
	}
	return d.someError(s, site, what, err.Error())
}

// numErrorText is the text of a *strconv.NumError.
func (d *Driver) numErrorText(s *State, v Value) (string, bool) {
	p, ok := v.(Ptr)
	if !ok || s.heap[p.object] == nil {
		return "", false
	}
	part := func(path string) Value { return partOf(s.heap[p.object].value, p.path+path) }
	function, ok1 := part("/0").(KStr)
	number, ok2 := part("/1").(KStr)
	inner, ok3 := part("/2").(Ifc)
	if !ok1 || !ok2 || !ok3 {
		return "", false
	}
	method := d.world.errorMethod(inner.typ)
	if method == nil {
		return "", false
	}
	reason, ok := d.messageOf(s, inner.v, inner.typ, method)
	return "strconv." + string(function) + ": parsing " + strconv.Quote(string(number)) + ": " + reason, ok
}

// errorMethod is the method Error of a type.
func (w *World) errorMethod(t types.Type) *ssa.Function {
	if t == nil {
		return nil
	}
	selection := w.program.MethodSets.MethodSet(t).Lookup(nil, "Error")
	if selection == nil {
		return nil
	}
	return w.program.MethodValue(selection)
}
