package main

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file performs the functions that print: the methods String, Error and GoString of what is
// printed are called one after the other, and fmt itself makes the text of what they return.

// formatIndex is where a printing function has its format, -1 if it has none; ok is false for
// functions that do not print their arguments.
func formatIndex(fn *ssa.Function) (format, args int, ok bool) {
	params := fn.Signature.Params().Len()
	if !fn.Signature.Variadic() {
		return 0, 0, false
	}
	offset := 0
	if fn.Signature.Recv() != nil {
		offset = 1
	}
	args = offset + params - 1
	if strings.HasSuffix(fn.Name(), "f") {
		return args - 1, args, true
	}
	return -1, args, true
}

// printedBack lists the methods that a printing function calls back, if they have effects.
func (d *Driver) printedBack(s *State, target Target) ([]callback, bool) {
	p, ok := d.newPrinter(s, target, nil)
	if !ok {
		return nil, false
	}
	return p.effects(0), true
}

// effects lists the methods from an index on that have effects or are not known.
func (p *printer) effects(from int) []callback {
	var found []callback
	for _, one := range p.methods[min(from, len(p.methods)):] {
		if one.fn == nil || p.d.world.hasEffects(one.fn) {
			found = append(found, one)
		}
	}
	return found
}

// formats is the text that a function of fmt makes of known arguments without methods.
func (d *Driver) formats(s *State, target Target) (Value, bool) {
	p, ok := d.newPrinter(s, target, nil)
	if !ok || len(p.methods) > 0 {
		return nil, false
	}
	return p.text()
}

// returnsText tells the functions of fmt whose text is followed.
func returnsText(fn *ssa.Function) bool {
	switch functionName(fn) {
	case "fmt.Sprint", "fmt.Sprintf", "fmt.Sprintln", "fmt.Errorf", "fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln",
		"fmt.Append", "fmt.Appendf", "fmt.Appendln", marshalName:
		return true
	}
	return false
}

// prints performs a function of fmt. The texts are what the first methods of its arguments have
// returned, and the trace is what was printed before the last of them was called: if a method has
// changed that, the text is not known.
func (d *Driver) prints(s *State, call *ssa.Call, target Target, texts []Value, trace string, pos token.Pos) bool {
	p, ok := d.newPrinter(s, target, texts)
	if !ok {
		return d.printed(s, call, target, nil, d.callbacks(s, target), pos)
	}
	if n := len(texts); n > 0 && (n > len(p.methods) || p.traces[n-1] != trace) {
		var rest []callback
		if len(p.effects(n)) > 0 {
			rest = append(rest, callback{})
		}
		return d.printed(s, call, target, nil, rest, pos)
	}
	if p.exact && len(texts) == len(p.methods) {
		known, _ := p.text()
		return d.printed(s, call, target, known, nil, pos)
	}
	if !p.exact && p.isMarshal() {
		return d.printed(s, call, target, nil, p.marshalled(), pos)
	}
	relevance := d.world.relevance
	if !p.exact || relevance.drops(call) || !relevance.textsMatter() {
		// Only what the methods do is of interest. A Format method needs its fmt.State for that.
		if !p.formatsWithEffects(len(texts)) {
			return d.printed(s, call, target, nil, p.effects(len(texts)), pos)
		}
		texts = append([]Value(nil), texts...)
		for !d.world.hasEffects(p.methods[len(texts)].fn) {
			texts = append(texts, Sym{"«?»"})
		}
	}
	if !d.canPush(s, p.methods[len(texts)].fn) {
		return d.printed(s, call, target, nil, p.effects(len(texts)), pos)
	}
	method := p.methods[len(texts)]
	args := []Value{method.receiver}
	var output Value = KNil{}
	if method.fn.Name() == "Format" {
		state := d.formatState(s, call, p.visits[len(texts)], len(texts))
		output = state.v.(Model).args[0]
		args = append(args, state, KInt(p.visits[len(texts)].verb))
	}
	after := After{"printed", []Value{Clo{fn: target.fn}, Tup{target.args}, Tup{texts}, KStr(p.traces[len(texts)]), method.receiver, output}, pos}
	if p.isMarshal() {
		after.what = "marshalled"
	}
	return d.push(s, call, Target{method.fn, args}, nil, []After{after}, pos, true)
}

// formatState is the fmt.State that a Format method is given: the variable that its output is
// collected in, the flags, the width and the precision.
func (d *Driver) formatState(s *State, call *ssa.Call, as visit, number int) Ifc {
	key := here(s.top()) + fmt.Sprintf("output %d %p", number, call)
	output := d.newObject(s, "output", key, types.Typ[types.String], token.NoPos)
	t := types.NewPointer(d.world.typeOf("fmt", "pp"))
	return Ifc{t, Model{"formatstate", []Value{output, KStr(as.flags), as.width, as.precision}}}
}

// formatStateMethod is a method of a fmt.State.
func (d *Driver) formatStateMethod(s *State, model Model, name string, args []Value, pos token.Pos) (Value, bool) {
	number := func(v Value) Value {
		if isNil(v) {
			return Tup{[]Value{KInt(0), KBool(false)}}
		}
		return Tup{[]Value{v, KBool(true)}}
	}
	switch name {
	case "Width":
		return number(model.args[2]), true
	case "Precision":
		return number(model.args[3]), true
	case "Flag":
		if flag, ok := args[0].(KInt); ok {
			return KBool(strings.ContainsRune(string(model.args[1].(KStr)), rune(flag))), true
		}
		return nil, false
	case "WriteString":
		return d.outputs(s, model, args[0], pos)
	case "Write":
		slice, ok := args[0].(Slc)
		if ok && !s.escaped[slice.object] {
			if known, ok := d.sliceAsText(s, slice, types.NewSlice(types.Typ[types.Uint8])); ok {
				return d.outputs(s, model, known, pos)
			}
		}
		if isNil(args[0]) {
			return d.outputs(s, model, KStr(""), pos)
		}
	}
	return d.outputs(s, model, nil, pos)
}

// outputs adds to the output of a Format method. The result is that of Write, if it is known.
func (d *Driver) outputs(s *State, model Model, more Value, pos token.Pos) (Value, bool) {
	output := model.args[0].(Ptr)
	o := s.heap[output.object]
	if o == nil {
		return nil, false
	}
	before, ok1 := o.value.(KStr)
	known, ok2 := more.(KStr)
	if !ok1 || !ok2 || len(before)+len(known) > longestText {
		d.store(s, output, Sym{"«?»"}, pos)
		return nil, false
	}
	d.store(s, output, before+known, pos)
	return Tup{[]Value{KInt(len(known)), KNil{}}}, true
}

// formatsWithEffects tells whether the methods from an index on that have effects are known, and a
// Format method is among them.
func (p *printer) formatsWithEffects(from int) bool {
	found := false
	for _, one := range p.methods[from:] {
		if one.fn == nil {
			return false
		}
		if !p.d.world.hasEffects(one.fn) {
			continue
		}
		_, isModel := one.receiver.(Model)
		if _, outside := p.d.world.outsidePath(one.fn); outside || isModel || len(one.fn.Blocks) == 0 {
			return false
		}
		found = found || one.fn.Name() == "Format"
	}
	return found && p.d.world.typeOf("fmt", "pp") != nil
}

// canPush tells whether a call of a function is not too deep in others of the same function.
func (d *Driver) canPush(s *State, fn *ssa.Function) bool {
	depth := 0
	for _, frame := range s.frames {
		if frame.fn == fn {
			depth++
		}
	}
	return depth < d.limits.depth && len(s.frames) <= 200
}

// afterMethod goes on with printing when a method has returned. If it has panicked, fmt prints that,
// and goes on as well.
func (d *Driver) afterMethod(s *State, after After, result Value, panicked bool) bool {
	f := s.top()
	call := f.site.(*ssa.Call)
	s.frames = s.frames[: len(s.frames)-1 : len(s.frames)-1]
	if output, ok := after.args[5].(Ptr); ok {
		result = Sym{"«?»"}
		if o := s.heap[output.object]; o != nil && !s.escaped[output.object] {
			result = o.value
		}
	}
	if after.what == "marshalled" {
		result = d.marshalledText(s, result)
	}
	if panicked {
		result = Sym{"«?»"}
		if isNil(after.args[4]) {
			result = nilReceiverText
		}
	}
	target := Target{after.args[0].(Clo).fn, after.args[1].(Tup).elems}
	texts := append(append([]Value(nil), after.args[2].(Tup).elems...), result)
	return d.prints(s, call, target, texts, string(after.args[3].(KStr)), after.pos)
}

// printed ends a call of a function of fmt: its text may be known, or methods may be left to call.
func (d *Driver) printed(s *State, call *ssa.Call, target Target, known Value, rest []callback, pos token.Pos) bool {
	top := s.top()
	switch name := target.fn.Name(); {
	case name == "Errorf":
		top.regs[call] = d.formattedError(s, call, target, known, pos)
	case strings.HasPrefix(name, "Fprint"):
		return d.printedTo(s, call, target, known, rest, pos)
	case strings.HasPrefix(name, "Append") && known != nil:
		top.regs[call] = d.appends(s, call, []Value{target.args[0], known}, pos)
	case functionName(target.fn) == marshalName && known != nil:
		top.regs[call] = d.marshalResult(s, call, string(known.(KStr)))
	case known != nil:
		top.regs[call] = known
	default:
		if !changesNothing(target.fn) {
			d.disturb(s, target.args)
		}
		top.regs[call] = d.unknownFrom(s, here(top), call, call.Type(), !d.isDetermined(s, target))
	}
	if len(rest) == 0 {
		return false
	}
	return d.callBack(s, target, rest, pos)
}

// printedTo writes a text to a writer, at once.
func (d *Driver) printedTo(s *State, call *ssa.Call, target Target, known Value, rest []callback, pos token.Pos) bool {
	top := s.top()
	if writer, ok := target.args[0].(Ifc); ok {
		if state, ok := writer.v.(Model); ok && state.name == "formatstate" {
			result, ok := d.outputs(s, state, known, pos)
			if !ok {
				result = d.unknown(s, here(top), call, call.Type())
			}
			top.regs[call] = result
			if len(rest) == 0 {
				return false
			}
			return d.callBack(s, target, rest, pos)
		}
	}
	if writer, ok := target.args[0].(Ifc); ok && writer.typ != nil && known != nil && len(rest) == 0 {
		if fn := d.world.methodNamed(writer.typ, "Write"); fn != nil && isCalledBack(fn) && d.canPush(s, fn) {
			_, isModel := writer.v.(Model)
			_, outside := d.world.outsidePath(fn)
			slice, isSlice := fn.Signature.Params().At(0).Type().Underlying().(*types.Slice)
			if !isModel && !outside && isSlice && len(fn.Blocks) > 0 && len(known.(KStr)) <= largest {
				bytes := d.textAsSlice(s, call, string(known.(KStr)), slice)
				after := []After{{"released", []Value{bytes}, pos}}
				return d.push(s, call, Target{fn, []Value{writer.v, bytes}}, nil, after, pos, false)
			}
		}
	}
	top.regs[call] = d.unknownFrom(s, here(top), call, call.Type(), !d.isDetermined(s, target))
	c := &calling{d: d, s: s, names: map[string]bool{"Write": true}, seen: map[string]bool{}}
	if writer, ok := target.args[0].(Ifc); ok {
		c.methods(writer.v, writer.typ)
	} else {
		c.unknown(target.fn.Signature.Params().At(0).Type())
	}
	rest = append(rest, c.found...)
	if len(rest) == 0 {
		return false
	}
	return d.callBack(s, target, rest, pos)
}

// methodNamed finds a method of a type by its name.
func (w *World) methodNamed(t types.Type, name string) *ssa.Function {
	if types.IsInterface(t) {
		return nil
	}
	set := w.program.MethodSets.MethodSet(t)
	for i := range set.Len() {
		if selection := set.At(i); selection.Obj().Name() == name && selection.Obj().Exported() {
			return w.program.MethodValue(selection)
		}
	}
	return nil
}

// formattedError is what fmt.Errorf returns: an error with a text, if that is known, and the errors
// that it wraps.
func (d *Driver) formattedError(s *State, call *ssa.Call, target Target, message Value, pos token.Pos) Value {
	if message == nil {
		message = d.unknown(s, here(s.top()), call, types.Typ[types.String])
	}
	key := here(s.top()) + fmt.Sprintf("error %p", call)
	elems, _, ok := d.printedArguments(s, target)
	if !ok {
		return Ifc{types.NewPointer(types.Typ[types.String]), d.unknown(s, here(s.top())+"errorf", call, nil)}
	}
	_, wrapped := d.visits(target, elems)
	var fields []Value
	name := ""
	switch err := wrapped.(type) {
	case interface{ Unwrap() error }:
		name = "wrapError"
		var inner Value = KNil{}
		if one, ok := err.Unwrap().(probe); ok {
			inner = elems[one.index()]
		}
		fields = []Value{message, inner}
	case interface{ Unwrap() []error }:
		name = "wrapErrors"
		var inner []Value
		for _, one := range err.Unwrap() {
			inner = append(inner, elems[one.(probe).index()])
		}
		fields = []Value{message, d.newSlice(s, call, types.NewSlice(errorType), inner, len(inner))}
	}
	t := d.world.typeOf("fmt", name)
	if t == nil {
		err := d.someError(s, call, "errorf", "").(Ifc)
		if p, ok := err.v.(Ptr); ok {
			d.replacePart(s, p.object, "/0", message)
		}
		return err
	}
	p := d.newObject(s, "error", key, t, pos).(Ptr)
	for i, field := range fields {
		d.replacePart(s, p.object, sub("", i), field)
	}
	return Ifc{types.NewPointer(t), p}
}
