package main

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// standardModels: functions of the standard library that the packages which are read call, and that
// need the runtime.
func (d *Driver) standardModels(m *modelled) (bool, bool) {
	if strings.HasPrefix(m.name, testifyModule) {
		return d.testifyModels(m)
	}
	switch m.name {
	case "fmt.Errorf":
		if call, ok := m.site.(*ssa.Call); ok {
			return true, d.prints(m.s, call, Target{m.fn, m.args}, nil, "", m.pos)
		}
		return false, false
	case "(runtime.errorString).Error", "(*runtime.PanicNilError).Error", "(*runtime.TypeAssertionError).Error", "(*errors.errorString).Error", "(context.deadlineExceededError).Error":
		return d.knownError(m), false
	case "(*strconv.NumError).Error":
		message, ok := d.messageOf(m.s, m.arg(0), nil, m.fn)
		if ok {
			m.finish(KStr(message))
		}
		return ok, false
	case "(*strconv.NumError).Unwrap":
		return d.readField(m, "/2"), false
	case "(*fmt.wrapError).Unwrap", "(*fmt.wrapErrors).Unwrap":
		return d.readField(m, "/1"), false
	case "(*fmt.wrapError).Error", "(*fmt.wrapErrors).Error":
		return d.readField(m, "/0"), false
	case "internal/reflectlite.TypeOf", "internal/reflectlite.ValueOf":
		m.finish(Model{"reflected", []Value{m.arg(0)}})
	case "(internal/reflectlite.Value).Len":
		model, ok := m.arg(0).(Model)
		if !ok {
			return false, false
		}
		length, ok := sliceLength(model.args[0])
		if !ok {
			return false, false
		}
		m.finish(KInt(int64(length)))
	case "internal/reflectlite.Swapper":
		m.finish(Model{"swapper", []Value{m.arg(0)}})
	case "maps.clone":
		return d.cloneMap(m), false
	case "errors.As":
		return d.errorsAs(m), false
	case "internal/abi.NoEscape":
		m.finish(m.arg(0))
	case "(*strings.Builder).copyCheck":
		return true, d.copyCheck(m)
	case "internal/bytealg.MakeNoZero":
		n, ok := m.arg(0).(KInt)
		call, isCall := m.site.(*ssa.Call)
		if !ok || !isCall || n < 0 || n > largest {
			return false, false
		}
		m.finish(d.newSlice(m.s, call, types.NewSlice(types.Typ[types.Uint8]), zeros(int(n)), int(n)))
	default:
		return false, false
	}
	return true, false
}

// copyCheck notes where a strings.Builder was used first: a copy that is used panics. Builders that
// goroutines share are not looked at.
func (d *Driver) copyCheck(m *modelled) bool {
	m.finish(KNil{})
	p, ok := m.arg(0).(Ptr)
	if !ok || m.s.heap[p.object] == nil || m.s.escaped[p.object] {
		return false
	}
	place := Ptr{p.object, p.path + "/0"}
	first, ok := at(m.s.heap[p.object].value, place.path)
	switch {
	case ok && isNil(first):
		d.store(m.s, place, p, m.pos)
	case ok && !equal(first, p):
		if _, known := first.(Ptr); known {
			return d.panics(m.s, Ifc{types.Typ[types.String], KStr("strings: illegal use of non-zero Builder copied by value")}, m.pos)
		}
	}
	return false
}

func zeros(n int) []Value {
	elems := make([]Value, n)
	for i := range elems {
		elems[i] = KInt(0)
	}
	return elems
}

// sliceLength is the length of a slice in an interface.
func sliceLength(v Value) (int, bool) {
	if ifc, ok := v.(Ifc); ok {
		v = ifc.v
	}
	switch v := v.(type) {
	case Slc:
		return v.n, true
	case KNil:
		return 0, true
	}
	return 0, false
}

// readField reads a field of the receiver.
func (d *Driver) readField(m *modelled, path string) bool {
	p, ok := m.arg(0).(Ptr)
	if !ok || m.s.heap[p.object] == nil {
		return false
	}
	v, ok := at(m.s.heap[p.object].value, p.path+path)
	if !ok {
		return false
	}
	m.finish(d.readCells(m.s, v, m.fn.Signature.Results().At(0).Type(), m.key(), m.pos))
	return true
}

// typeOf finds a type of a package by its name.
func (w *World) typeOf(path, name string) types.Type {
	for _, p := range w.program.AllPackages() {
		if p.Pkg.Path() == path {
			if object := p.Pkg.Scope().Lookup(name); object != nil {
				return object.Type()
			}
		}
	}
	return nil
}

// errorsAs is errors.As for chains that are known and whose types have no As of their own.
func (d *Driver) errorsAs(m *modelled) bool {
	target, ok := m.arg(1).(Ifc)
	if !ok {
		return false
	}
	pointer, ok := target.typ.(*types.Pointer)
	if !ok {
		return false
	}
	err := m.arg(0)
	for range 16 {
		if isNil(err) {
			m.finish(KBool(false))
			return true
		}
		ifc, ok := err.(Ifc)
		if !ok || ifc.typ == nil {
			return false
		}
		if wanted, isInterface := pointer.Elem().Underlying().(*types.Interface); isInterface && types.Implements(ifc.typ, wanted) {
			d.store(m.s, target.v, ifc, m.pos)
			m.finish(KBool(true))
			return true
		}
		if types.Identical(ifc.typ, pointer.Elem()) {
			d.store(m.s, target.v, ifc.v, m.pos)
			m.finish(KBool(true))
			return true
		}
		set := d.world.program.MethodSets.MethodSet(ifc.typ)
		if set.Lookup(nil, "As") != nil {
			return false
		}
		if set.Lookup(nil, "Unwrap") == nil {
			m.finish(KBool(false))
			return true
		}
		p, isPointer := ifc.v.(Ptr)
		if typeName(ifc.typ) != "*fmt.wrapError" || !isPointer || m.s.heap[p.object] == nil {
			return false
		}
		err = partOf(m.s.heap[p.object].value, p.path+"/1")
	}
	return false
}

// swap is what reflect's Swapper returns.
func (d *Driver) swap(s *State, model Model, args []Value, pos token.Pos) bool {
	ifc, ok := model.args[0].(Ifc)
	slice, ok2 := ifc.v.(Slc)
	if !ok || !ok2 || len(args) != 2 {
		return false
	}
	i, ok1 := args[0].(KInt)
	j, ok2 := args[1].(KInt)
	if !ok1 || !ok2 || i < 0 || j < 0 || int(i) >= slice.n || int(j) >= slice.n {
		d.disturbObject(s, slice.object)
		return true
	}
	elems := d.loadElements(s, slice, partType(s.heap[slice.object].typ, 0), here(s.top())+"swap", pos)
	if len(elems) != slice.n {
		return false
	}
	d.store(s, Ptr{slice.object, sub(slice.path, slice.low+int(i))}, elems[j], pos)
	d.store(s, Ptr{slice.object, sub(slice.path, slice.low+int(j))}, elems[i], pos)
	return true
}

// testifyModels: assertions that call what they are given. What an assertion says is not known; that
// a test fails is no concern of this program.
func (d *Driver) testifyModels(m *modelled) (bool, bool) {
	switch name := m.fn.Name(); name {
	case "Panics", "NotPanics", "PanicsWithValue", "PanicsWithError", "Panicsf", "NotPanicsf", "PanicsWithValuef", "PanicsWithErrorf":
		d.finishUnknown(m)
		for _, arg := range m.args {
			if clo, ok := arg.(Clo); ok {
				d.later(m.s, clo, []After{{"recovers", nil, m.pos}}, m.pos)
				return true, false
			}
		}
		d.assume(m.pos, "either", aboutUnknownFunction)
		return true, false
	}
	return false, false
}

// knownError is the text of an error that this program has made itself.
func (d *Driver) knownError(m *modelled) bool {
	if m.name == "(context.deadlineExceededError).Error" {
		m.finish(KStr("context deadline exceeded"))
		return true
	}
	message, ok := m.arg(0).(KStr)
	if !ok {
		return false
	}
	if m.name == "(*errors.errorString).Error" {
		// A variable of a package that is not read.
		known, ok := sentinelTexts[message]
		if !ok {
			m.finish(d.unknown(m.s, here(m.s.top()), m.site, types.Typ[types.String]))
			return true
		}
		message = KStr(known)
	}
	m.finish(message)
	return true
}

// cloneMap is what maps.Clone asks the runtime for.
func (d *Driver) cloneMap(m *modelled) bool {
	ifc, ok := m.arg(0).(Ifc)
	if !ok {
		return false
	}
	p, ok := ifc.v.(Ptr)
	if !ok {
		return false
	}
	o := m.s.heap[p.object]
	if o == nil || o.kind != "map" || o.blurred || d.isShared(m.s, p.object) {
		return false
	}
	name := d.fresh(m.s, "map", "clone "+m.key())
	m.s.disown()
	copied := *o
	copied.multi = d.repeats(m.s)
	m.s.heap[name] = &copied
	m.finish(Ifc{ifc.typ, Ptr{name, ""}})
	return true
}
