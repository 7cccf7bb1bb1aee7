package main

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ssa"
)

// scanned is a variable that a text is scanned into.
type scanned struct {
	place Ptr
	typ   types.Type
	value reflect.Value // a pointer to a variable of the same type
}

// scans performs Sscan, Sscanf and Sscanln of a known text into variables of numbers, strings and
// flags, if all of them are set.
func (d *Driver) scans(s *State, site ssa.Instruction, target Target, pos token.Pos) (Value, bool) {
	var texts []string
	name := functionName(target.fn)
	switch name {
	case "fmt.Sscan", "fmt.Sscanln", "fmt.Sscanf":
	default:
		return nil, false
	}
	last := len(target.args) - 1
	for _, arg := range target.args[:last] {
		text, ok := arg.(KStr)
		if !ok {
			return nil, false
		}
		texts = append(texts, string(text))
	}
	variables, ok := d.scannedInto(s, target.args[last])
	if !ok {
		return nil, false
	}
	pointers := make([]any, len(variables))
	for i, variable := range variables {
		pointers[i] = variable.value.Interface()
	}
	var n int
	var err error
	switch name {
	case "fmt.Sscan":
		n, err = fmt.Sscan(texts[0], pointers...)
	case "fmt.Sscanln":
		n, err = fmt.Sscanln(texts[0], pointers...)
	default:
		n, err = fmt.Sscanf(texts[0], texts[1], pointers...)
	}
	if err != nil || n != len(variables) {
		return nil, false
	}
	for _, variable := range variables {
		now, ok := d.known(s, site, variable.value.Elem(), variable.typ, 0)
		if !ok {
			now = d.unknownOf("«?»", variable.typ, 0)
		}
		d.store(s, variable.place, now, pos)
	}
	return Tup{[]Value{KInt(n), KNil{}}}, true
}

// scannedInto are the variables whose addresses are given to a scan, if it sets nothing else and
// calls nothing.
func (d *Driver) scannedInto(s *State, given Value) ([]scanned, bool) {
	slice, ok := given.(Slc)
	if !ok || s.escaped[slice.object] {
		return nil, false
	}
	elems := d.elements(s, slice)
	if len(elems) != slice.n {
		return nil, false
	}
	variables := make([]scanned, len(elems))
	for i, elem := range elems {
		ifc, isIfc := elem.(Ifc)
		if !isIfc || ifc.typ == nil {
			return nil, false
		}
		pointer, isPointer := ifc.typ.(*types.Pointer)
		place, isPtr := ifc.v.(Ptr)
		if !isPointer || !isPtr || d.world.methodNamed(pointer, "Scan") != nil {
			return nil, false
		}
		basic, isBasic := pointer.Elem().Underlying().(*types.Basic)
		o := s.heap[place.object]
		if !isBasic || basicType(basic) == nil || o == nil || o.kind != "memory" || s.escaped[place.object] {
			return nil, false
		}
		variables[i] = scanned{place, pointer.Elem(), reflect.New(basicType(basic))}
	}
	return variables, true
}
