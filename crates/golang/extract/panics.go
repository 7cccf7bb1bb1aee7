package main

import (
	"fmt"
	"go/token"
	"go/types"
	"go/version"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// panics begins to unwind with a value.
func (d *Driver) panics(s *State, v Value, pos token.Pos) bool {
	caught := false
	for _, f := range s.frames {
		if len(f.defers) > 0 || len(f.after) > 0 {
			caught = true
		}
	}
	if !caught {
		d.endsByPanic(v, pos)
		return true
	}
	if isNil(v) && (d.home == nil || version.Compare(d.home.GoVersion(), "go1.21") >= 0) {
		// Since Go 1.21 the value of panic(nil) is not nil.
		v = d.runtimeErrorOf("PanicNilError", "panic called with nil argument (use GODEBUG=panicnil=1 to disable)")
	}
	f := s.top()
	f.mode, f.panic, f.panicPos = "panic", v, pos
	return false
}

// endsByPanic ends the program by a panic. The runtime asks an error or Stringer for its text before.
func (d *Driver) endsByPanic(v Value, pos token.Pos) {
	if ifc, ok := v.(Ifc); ok && ifc.typ != nil {
		fn := d.world.methodNamed(ifc.typ, "Error")
		if fn == nil {
			fn = d.world.methodNamed(ifc.typ, "String")
		}
		if fn != nil && d.world.communicates(fn) {
			d.assume(pos, "either", aboutUnreadCallback, "panic")
		}
	}
	d.put(&Code{op: opPanic, note: panicText(v), pos: pos})
}

// panicText is the message of a panic that ends the program.
func panicText(v Value) string {
	switch v := v.(type) {
	case Ifc:
		return panicText(v.v)
	case KStr:
		return string(v)
	case KInt:
		return fmt.Sprint(int64(v))
	}
	return "panic"
}

// runtimeError is the value of a panic of the runtime; its text is not known if the message is
// empty.
func (d *Driver) runtimeError(message string) Value {
	t := d.world.runtimeError()
	if message == "" {
		return Ifc{t, Sym{"«?»"}}
	}
	return Ifc{t, KStr(message)}
}

// runtimeErrorOf is the value of a panic of the runtime that is a pointer to a type of its own. Where
// the pointer would be is the text, as in other errors of the runtime.
func (d *Driver) runtimeErrorOf(name, message string) Value {
	t := d.world.typeOf("runtime", name)
	if t == nil {
		return d.runtimeError(message)
	}
	if message == "" {
		return Ifc{types.NewPointer(t), Sym{"«?»"}}
	}
	return Ifc{types.NewPointer(t), KStr(message)}
}

// runtimeError is a type of such panics: it implements error and runtime.Error.
func (w *World) runtimeError() types.Type {
	for _, p := range w.program.AllPackages() {
		if p.Pkg.Path() == "runtime" {
			if object := p.Pkg.Scope().Lookup("errorString"); object != nil {
				return object.Type()
			}
		}
	}
	return types.Typ[types.String]
}

// recovers is recover(): it stops the panic of the call that runs the deferred function.
func (d *Driver) recovers(s *State) Value {
	top := len(s.frames) - 1
	for top > 0 && !s.frames[top].deferred && isWrapper(s.frames[top-1].fn) {
		top--
	}
	if top >= 1 && s.frames[top].deferred {
		below := s.own(top - 1)
		if below.mode == "panic" {
			below.mode = "recovered"
			v := below.panic
			below.panic = nil
			if v == nil {
				return d.unknown(s, "recovered", nil, nil)
			}
			return v
		}
	}
	return KNil{}
}

// isRecoverable tells whether some deferred call may recover a panic that happens now.
func (d *Driver) isRecoverable(s *State) bool {
	for _, f := range s.frames {
		for _, after := range f.after {
			if after.what == "recovers" || after.what == "printed" {
				return true
			}
		}
		for _, deferred := range f.defers {
			if mayRecover(deferred.fn, deferred.call) {
				return true
			}
		}
	}
	return false
}

// mayRecover tells whether a deferred function calls recover.
func mayRecover(fn Value, call *ssa.CallCommon) bool {
	if call != nil {
		if _, builtin := call.Value.(*ssa.Builtin); builtin {
			// A deferred recover itself recovers nothing.
			return false
		}
		if call.IsInvoke() {
			return true
		}
	}
	switch fn := fn.(type) {
	case Clo:
		return callsRecover(fn.fn)
	case Model:
		return false
	}
	return true
}

func callsRecover(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if builtin, ok := call.Common().Value.(*ssa.Builtin); ok && builtin.Name() == "recover" {
				return true
			}
			if callee := call.Common().StaticCallee(); isWrapper(fn) && (callee == nil || callsRecover(callee)) {
				return true
			}
		}
	}
	return false
}

// isWrapper tells functions without a source that call one method: a deferred call of one is a deferred
// call of the method.
func isWrapper(fn *ssa.Function) bool {
	for _, kind := range []string{"wrapper for ", "bound method wrapper for ", "thunk for ", "instantiation wrapper of "} {
		if strings.HasPrefix(fn.Synthetic, kind) {
			return true
		}
	}
	return false
}

// danger is what an instruction may do instead of computing.
type danger int

const (
	safe    danger = iota
	unsure         // it may panic, depending on what is not known
	certain        // it panics
)

// fails tells whether an instruction panics in this state, and with what text if that is known.
func (d *Driver) fails(s *State, instr ssa.Instruction) (danger, string) {
	switch i := instr.(type) {
	case *ssa.UnOp:
		if i.Op == token.MUL {
			return d.failsAt(d.value(s, i.X))
		}
	case *ssa.FieldAddr:
		return d.failsAt(d.value(s, i.X))
	case *ssa.Store:
		return d.failsAt(d.value(s, i.Addr))
	case *ssa.IndexAddr:
		return d.failsIndex(s, i.X, d.value(s, i.Index))
	case *ssa.Index:
		return d.failsIndex(s, i.X, d.value(s, i.Index))
	case *ssa.Lookup:
		of, isMap := i.X.Type().Underlying().(*types.Map)
		if !isMap {
			return d.failsIndex(s, i.X, d.value(s, i.Index))
		}
		return d.failsKey(d.value(s, i.Index), of.Key())
	case *ssa.Slice:
		return d.failsSlice(s, i)
	case *ssa.BinOp:
		return d.failsOperation(s, i)
	case *ssa.MapUpdate:
		of := i.Map.Type().Underlying().(*types.Map)
		danger, message := d.failsKey(d.value(s, i.Key), of.Key())
		switch d.value(s, i.Map).(type) {
		case KNil:
			return certain, "assignment to entry in nil map"
		case Sym:
			return max(unsure, danger), message
		}
		return danger, message
	case *ssa.Go:
		return d.failsReceiver(s, &i.Call)
	case *ssa.Defer:
		return d.failsReceiver(s, &i.Call)
	case *ssa.Call:
		if builtin, ok := i.Call.Value.(*ssa.Builtin); ok {
			return d.failsBuiltin(s, &i.Call, builtin.Name())
		}
		if callee := i.Call.StaticCallee(); callee != nil && d.refusesPerhaps(s, callee, i.Call.Args) {
			return unsure, ""
		}
		return d.failsReceiver(s, &i.Call)
	case *ssa.TypeAssert:
		return d.failsAssertion(s, i)
	case *ssa.SliceToArrayPointer:
		array := i.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		switch v := d.value(s, i.X).(type) {
		case Slc:
			if int64(v.n) < array.Len() {
				return certain, ""
			}
		case KNil:
			if array.Len() > 0 {
				return certain, ""
			}
		default:
			return unsure, ""
		}
	case *ssa.MakeSlice:
		if n, ok := d.value(s, i.Len).(KInt); ok && n < 0 {
			return certain, "runtime error: makeslice: len out of range"
		}
		length, ok1 := d.value(s, i.Len).(KInt)
		capacity, ok2 := d.value(s, i.Cap).(KInt)
		switch {
		case ok1 && ok2 && capacity < length:
			return certain, "runtime error: makeslice: cap out of range"
		case !ok1 || !ok2:
			return unsure, ""
		}
	case *ssa.MakeChan:
		switch size := d.value(s, i.Size).(type) {
		case KInt:
			if size < 0 {
				return certain, "makechan: size out of range"
			}
		default:
			return unsure, ""
		}
	}
	return safe, ""
}

// failsReceiver: a method of a nil interface is called, deferred or started as a goroutine.
func (d *Driver) failsReceiver(s *State, call *ssa.CallCommon) (danger, string) {
	if !call.IsInvoke() {
		return safe, ""
	}
	return d.failsAt(d.value(s, call.Value))
}

// failsBuiltin: delete with a key that has no comparison, and lengths that package unsafe refuses.
func (d *Driver) failsBuiltin(s *State, call *ssa.CallCommon, name string) (danger, string) {
	switch name {
	case "delete":
		if of, ok := call.Args[0].Type().Underlying().(*types.Map); ok {
			return d.failsKey(d.value(s, call.Args[1]), of.Key())
		}
	case "Slice", "String":
		return unsure, ""
	}
	return safe, ""
}

// failsOperation: divisions, shifts and comparisons.
func (d *Driver) failsOperation(s *State, i *ssa.BinOp) (danger, string) {
	switch i.Op {
	case token.EQL, token.NEQ:
		return d.failsEqual(s, d.value(s, i.X), d.value(s, i.Y), i.X.Type())
	case token.SHL, token.SHR:
		amount, ok := i.Y.Type().Underlying().(*types.Basic)
		if !ok || amount.Info()&types.IsUnsigned != 0 {
			return safe, ""
		}
		if n, ok := d.value(s, i.Y).(KInt); ok {
			if n < 0 {
				return certain, "runtime error: negative shift amount"
			}
			return safe, ""
		}
		return unsure, ""
	case token.QUO, token.REM:
		if basic, ok := i.X.Type().Underlying().(*types.Basic); !ok || basic.Info()&types.IsInteger == 0 {
			return safe, ""
		}
		if n, ok := d.value(s, i.Y).(KInt); ok {
			if n == 0 {
				return certain, "runtime error: integer divide by zero"
			}
			return safe, ""
		}
		return unsure, ""
	}
	return safe, ""
}

func (d *Driver) failsAt(v Value) (danger, string) {
	switch v.(type) {
	case KNil:
		return certain, "runtime error: invalid memory address or nil pointer dereference"
	case Sym:
		return unsure, ""
	}
	return safe, ""
}

func (d *Driver) failsIndex(s *State, of ssa.Value, index Value) (danger, string) {
	length := -1
	switch v := d.value(s, of).(type) {
	case Slc:
		length = v.n
	case KStr:
		length = len(v)
	case KNil:
		if _, isPointer := of.Type().Underlying().(*types.Pointer); isPointer {
			return certain, "runtime error: invalid memory address or nil pointer dereference"
		}
		length = 0
	case Agg:
		length = len(v.elems)
	case Ptr:
		if pointer, ok := of.Type().Underlying().(*types.Pointer); ok {
			if array, ok := pointer.Elem().Underlying().(*types.Array); ok {
				length = int(array.Len())
			}
		}
	}
	n, known := index.(KInt)
	if known && (n < 0 || length >= 0 && int64(n) >= int64(length)) {
		if n < 0 {
			return certain, fmt.Sprintf("runtime error: index out of range [%d]", n)
		}
		return certain, fmt.Sprintf("runtime error: index out of range [%d] with length %d", n, length)
	}
	if known && length >= 0 {
		return safe, ""
	}
	return unsure, ""
}

func (d *Driver) failsSlice(s *State, i *ssa.Slice) (danger, string) {
	if _, isPointer := i.X.Type().Underlying().(*types.Pointer); isPointer && isNil(d.value(s, i.X)) {
		return certain, nilDereference
	}
	length, capacity, known := d.sliced(s, i)
	low, high, max, ok := d.bounds(s, i, length, capacity)
	if !known || !ok {
		return unsure, ""
	}
	if _, isText := d.value(s, i.X).(KStr); isText {
		capacity, max = length, length
	}
	if low < 0 || low > high || high > max || max > capacity {
		return certain, ""
	}
	return safe, ""
}

func (d *Driver) failsAssertion(s *State, i *ssa.TypeAssert) (danger, string) {
	if i.CommaOk {
		return safe, ""
	}
	switch v := d.value(s, i.X).(type) {
	case KNil:
		return certain, ""
	case Ifc:
		if v.typ == nil {
			return unsure, ""
		}
		fits := false
		if target, ok := i.AssertedType.Underlying().(*types.Interface); ok {
			fits = types.Implements(v.typ, target)
		} else {
			fits = types.Identical(v.typ, i.AssertedType)
		}
		if !fits {
			return certain, ""
		}
	case Sym:
		return unsure, ""
	}
	return safe, ""
}

// checks deals with an instruction that panics, or may: it tells whether it does, and whether the
// code being written has come to an end.
func (d *Driver) checks(s *State, instr ssa.Instruction) (bool, bool) {
	danger, message := d.fails(s, instr)
	switch danger {
	case certain:
		return true, d.panics(s, d.errorOf(instr, message), instr.Pos())
	case unsure:
		if d.isRecoverable(s) {
			return true, d.mayFail(s, instr)
		}
	}
	return false, false
}

// errorOf is the value of the panic of an instruction.
func (d *Driver) errorOf(instr ssa.Instruction, message string) Value {
	if _, ok := instr.(*ssa.TypeAssert); ok {
		return d.runtimeErrorOf("TypeAssertionError", message)
	}
	return d.runtimeError(message)
}

// mayFail follows an instruction both ways: it panics, and that is recovered, or it does not.
func (d *Driver) mayFail(s *State, instr ssa.Instruction) bool {
	panics := d.fork(s, func(t *State) {
		if d.panics(t, d.errorOf(instr, ""), instr.Pos()) {
			t.frames = t.frames[:0]
		}
	})
	goesOn := d.fork(s, func(t *State) {
		f := t.top()
		f.pc--
		f.sure = true
	})
	d.put(&Code{op: opChoose, pos: nearPos(instr), arms: []*Code{panics, goesOn}, lossy: true})
	return true
}

// nearPos is the position of an instruction, or of the nearest one that has any.
func nearPos(instr ssa.Instruction) token.Pos {
	if pos := instr.Pos(); pos != token.NoPos {
		return pos
	}
	return blockPos(instr.Block())
}

// mayPanic tells operations of the program that may panic.
func mayPanic(c *Code) bool {
	switch c.op {
	case opPut, opClose, opAdd:
		return c.pos != token.NoPos
	case opSync:
		// Unlocking what is not locked ends the program whatever is deferred.
		return c.pos != token.NoPos && c.note == "done"
	case opSelect:
		for _, arm := range c.arms {
			if arm.op == opPut {
				return true
			}
		}
	}
	return false
}
