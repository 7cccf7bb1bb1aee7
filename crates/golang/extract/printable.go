package main

import (
	"cmp"
	"fmt"
	"go/types"
	"io"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/tools/go/ssa"
)

// This file makes Go values of what a printing function is given, so that fmt itself can print them.
// What fmt prints depends on the kinds of values, on the names of fields and on methods; a value that
// is printed by a method is replaced by its text. The names of types are not the same, so nothing is
// claimed about texts that contain them.

// visit is how an argument is printed: by which verb, whether that is %#v, and with which flags,
// width and precision, which are KNil if there is none.
type visit struct {
	arg              int
	verb             rune
	sharp            bool
	flags            string
	width, precision Value
}

// probe is an argument that records how fmt prints it.
type probe interface{ index() int }

type plainProbe struct {
	arg    int
	visits *[]visit
}

func (p plainProbe) index() int { return p.arg }

func (p plainProbe) Format(f fmt.State, verb rune) {
	one := visit{arg: p.arg, verb: verb, sharp: verb == 'v' && f.Flag('#'), width: KNil{}, precision: KNil{}}
	for _, flag := range "+-# 0" {
		if f.Flag(int(flag)) {
			one.flags += string(flag)
		}
	}
	if width, ok := f.Width(); ok {
		one.width = KInt(width)
	}
	if precision, ok := f.Precision(); ok {
		one.precision = KInt(precision)
	}
	*p.visits = append(*p.visits, one)
}

// errorProbe is the probe of an error, which %w accepts.
type errorProbe struct{ plainProbe }

func (p errorProbe) Error() string { return "" }

// textValue is a value that is printed by a method: what that returns.
type textValue struct{ text string }

func (t textValue) Error() string    { return t.text }
func (t textValue) GoString() string { return t.text }

// textString is the same for values that are strings: fmt.Sprint sets no spaces around them.
type textString string

func (t textString) Error() string    { return string(t) }
func (t textString) GoString() string { return string(t) }

// formattedValue and formattedString are the same for values that are printed by a Format method:
// its output is not formatted any more.
type formattedValue struct{ text string }

func (t formattedValue) Format(f fmt.State, _ rune) { io.WriteString(f, t.text) }
func (t formattedValue) Error() string              { return t.text }

type formattedString string

func (t formattedString) Format(f fmt.State, _ rune) { io.WriteString(f, string(t)) }
func (t formattedString) Error() string              { return string(t) }

// nilReceiver is a nil pointer whose method panics.
type nilReceiver struct{}

func (*nilReceiver) Error() string    { panic("nil receiver") }
func (*nilReceiver) GoString() string { panic("nil receiver") }

// nilReceiverText stands for the text of such a method.
var nilReceiverText = Model{"nil receiver", nil}

// printer visits what a function prints in the order in which fmt does.
type printer struct {
	calling
	target  Target
	texts   []Value    // what the first methods returned
	methods []callback // all methods that printing calls, in order
	visits  []visit    // how they are called
	traces  []string   // what was visited before each method is called
	trace   strings.Builder
	exact   bool  // can everything be printed once the methods have been called?
	plain   bool  // are all arguments of predeclared types?
	in      []any // the arguments for fmt
}

// printedArguments are the arguments that a function prints and its format.
func (d *Driver) printedArguments(s *State, target Target) (elems []Value, format string, ok bool) {
	at, args, ok := formatIndex(target.fn)
	if !ok || args >= len(target.args) {
		return nil, "", false
	}
	switch v := target.args[args].(type) {
	case KNil:
	case Slc:
		elems = d.elements(s, v)
		if len(elems) != v.n {
			return nil, "", false
		}
	default:
		return nil, "", false
	}
	if at >= 0 {
		written, known := target.args[at].(KStr)
		if !known || strings.Contains(string(written), "*") {
			return nil, "", false
		}
		format = string(written)
	}
	return elems, format, true
}

// visits asks fmt how the arguments are printed. The error is what fmt.Errorf returns.
func (d *Driver) visits(target Target, elems []Value) ([]visit, error) {
	var visits []visit
	at, _, _ := formatIndex(target.fn)
	if at < 0 {
		for i := range elems {
			visits = append(visits, visit{arg: i, verb: 'v', width: KNil{}, precision: KNil{}})
		}
		return visits, nil
	}
	probes := make([]any, len(elems))
	for i, e := range elems {
		plain := plainProbe{i, &visits}
		ifc, isIfc := e.(Ifc)
		switch {
		case isNil(e):
		case !isIfc || ifc.typ == nil || d.world.methodNamed(ifc.typ, "Error") != nil:
			probes[i] = errorProbe{plain}
		default:
			probes[i] = plain
		}
	}
	format := string(target.args[at].(KStr))
	if functionName(target.fn) == "fmt.Errorf" {
		err := fmt.Errorf(format, probes...)
		return visits, err
	}
	_ = fmt.Sprintf(format, probes...)
	return visits, nil
}

// newPrinter visits what a function prints; ok is false if that is not known.
func (d *Driver) newPrinter(s *State, target Target, texts []Value) (*printer, bool) {
	elems, _, ok := d.printedArguments(s, target)
	if functionName(target.fn) == marshalName {
		elems, ok = target.args, true
	}
	if !ok {
		return nil, false
	}
	p := &printer{
		calling: calling{d: d, s: s, names: printed, seen: map[string]bool{}},
		target:  target, texts: texts, exact: true, plain: true, in: make([]any, len(elems)),
	}
	visits := []visit{{verb: marshalVerb}}
	if !p.isMarshal() {
		visits, _ = d.visits(target, elems)
	}
	visited := make([]bool, len(elems))
	for _, one := range visits {
		before := len(p.methods)
		p.argument(elems[one.arg], one)
		if visited[one.arg] && len(p.methods) > before {
			p.exact = false
		}
		visited[one.arg] = true
	}
	for i, e := range elems {
		if visited[i] || isNil(e) {
			continue
		}
		// It is not printed, or only its type is.
		if ifc, ok := e.(Ifc); !ok || !isPredeclared(ifc.typ) {
			p.exact = false
			continue
		}
		p.argument(e, visit{arg: i, verb: 'T'})
	}
	return p, true
}

// isPredeclared tells basic types that have no other name.
func isPredeclared(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Basic)
	return ok
}

// argument visits one argument.
func (p *printer) argument(e Value, as visit) {
	if ifc, ok := e.(Ifc); !isNil(e) && (!ok || !isPredeclared(ifc.typ)) {
		p.plain = false
	}
	if isNil(e) {
		p.trace.WriteString("nil,")
		return
	}
	v := p.show(e, nil, as, 0, false)
	if v.IsValid() {
		p.in[as.arg] = v.Interface()
	}
}

// text is what fmt makes of the arguments.
func (p *printer) text() (Value, bool) {
	if !p.exact || len(p.texts) < len(p.methods) {
		return nil, false
	}
	format := ""
	if at, _, ok := formatIndex(p.target.fn); ok && at >= 0 {
		format = string(p.target.args[at].(KStr))
	}
	out := ""
	switch functionName(p.target.fn) {
	case "fmt.Sprint", "fmt.Fprint", "fmt.Append":
		out = fmt.Sprint(p.in...)
	case "fmt.Sprintln", "fmt.Fprintln", "fmt.Appendln":
		out = fmt.Sprintln(p.in...)
	case "fmt.Sprintf", "fmt.Fprintf", "fmt.Appendf":
		out = fmt.Sprintf(format, p.in...)
	case marshalName:
		return p.marshal()
	case "fmt.Errorf":
		out = fmt.Errorf(format, p.in...).Error()
	default:
		return nil, false
	}
	if len(out) > longestText || !p.plain && strings.Contains(out, "%!") {
		// A mistake in a format prints the name of a type.
		return nil, false
	}
	return KStr(out), true
}

// inexact is the value of something that cannot be printed.
func (p *printer) inexact() reflect.Value {
	p.exact = false
	return reflect.Value{}
}

// show visits a value as fmt does. A hidden value is in a field that is not exported, so that its
// methods are not called.
func (p *printer) show(v Value, t types.Type, as visit, depth int, hidden bool) reflect.Value {
	if ifc, ok := v.(Ifc); ok {
		v, t = ifc.v, ifc.typ
	}
	if depth > 8 {
		return p.inexact()
	}
	if t == nil || types.IsInterface(t) {
		if isNil(v) {
			p.trace.WriteString("nil,")
			return reflect.Zero(reflect.TypeFor[any]())
		}
		p.exact = false
		p.mayBe(v, t, hidden)
		return reflect.Value{}
	}
	if as.verb == marshalVerb && !p.canMarshal(v, t) {
		return p.inexact()
	}
	if fn := p.method(t, as); fn != nil && !hidden {
		return p.byMethod(v, t, fn, as)
	}
	if as.sharp {
		if _, basic := t.Underlying().(*types.Basic); !basic {
			p.exact = false // types are printed
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return p.basic(v, u)
	case *types.Struct:
		return p.structure(v, u, as, depth, hidden)
	case *types.Array:
		agg, ok := v.(Agg)
		if !ok {
			return p.inexact()
		}
		return p.list(agg.elems, t, u.Elem(), as, depth, hidden)
	case *types.Slice:
		switch slice := v.(type) {
		case KNil:
			return p.list(nil, t, u.Elem(), as, depth, hidden)
		case Slc:
			elems := p.d.elements(p.s, slice)
			if len(elems) != slice.n || p.s.escaped[slice.object] {
				p.exact = false
			}
			return p.list(elems, t, u.Elem(), as, depth, hidden)
		}
		p.mayBe(v, t, hidden)
	case *types.Map:
		return p.table(v, t, u, as, depth, hidden)
	case *types.Pointer:
		return p.pointer(v, u, as, depth, hidden)
	case *types.Signature, *types.Chan:
		if isNil(v) {
			p.trace.WriteString("nil,")
			return reflect.Zero(reflect.TypeFor[chan int]())
		}
	}
	return p.inexact()
}

// mayBe adds the methods that a value of which only the type is known may be printed by.
func (p *printer) mayBe(v Value, t types.Type, hidden bool) {
	if hidden {
		return
	}
	if t == nil {
		t = types.NewInterfaceType(nil, nil)
	}
	if sym, ok := v.(Sym); ok && !fromOutside(sym.id) {
		p.unknown(t)
		for _, one := range p.found {
			p.called(one, visit{})
		}
		p.found = nil
	}
}

// method finds the method by which values of a type are printed.
func (p *printer) method(t types.Type, as visit) *ssa.Function {
	names := []string{"Format"}
	switch {
	case as.verb == marshalVerb:
		names = []string{"MarshalJSON"}
	case as.verb == 'T' || as.verb == 'p':
		return nil
	case as.sharp:
		names = append(names, "GoString")
	case strings.ContainsRune("vsxXq", as.verb):
		names = append(names, "Error", "String")
	}
	for _, name := range names {
		if fn := p.d.world.methodNamed(t, name); fn != nil && isCalledBack(fn) {
			return fn
		}
	}
	return nil
}

// byMethod is a value that is printed by a method.
func (p *printer) byMethod(v Value, t types.Type, fn *ssa.Function, as visit) reflect.Value {
	fmt.Fprintf(&p.trace, "%p %s,", fn, text(v))
	if known, ok := p.d.messageOf(p.s, v, t, fn); ok {
		return p.wrap(known, t, fn)
	}
	_, outside := p.d.world.outsidePath(fn)
	_, isModel := v.(Model)
	if outside || isModel || len(fn.Blocks) == 0 || fn.Name() == "Format" && p.d.world.typeOf("fmt", "pp") == nil {
		p.exact = false
	}
	k := len(p.methods)
	p.called(callback{fn: fn, receiver: v, method: true}, as)
	if k >= len(p.texts) {
		return p.wrap("", t, fn)
	}
	switch returned := p.texts[k].(type) {
	case KStr:
		return p.wrap(string(returned), t, fn)
	case Model:
		if returned.name == nilReceiverText.name && fn.Name() != "Format" {
			return reflect.Zero(reflect.TypeFor[*nilReceiver]())
		}
	}
	return p.inexact()
}

// called adds a method that printing calls.
func (p *printer) called(one callback, as visit) {
	p.methods = append(p.methods, one)
	p.visits = append(p.visits, as)
	p.traces = append(p.traces, p.trace.String())
}

// wrap is the text of a method as a value.
func (p *printer) wrap(text string, t types.Type, fn *ssa.Function) reflect.Value {
	basic, ok := t.Underlying().(*types.Basic)
	isString := ok && basic.Info()&types.IsString != 0
	switch {
	case fn.Name() == "MarshalJSON":
		return reflect.ValueOf(marshalledValue{text})
	case fn.Name() == "Format" && isString:
		return reflect.ValueOf(formattedString(text))
	case fn.Name() == "Format":
		return reflect.ValueOf(formattedValue{text})
	case isString:
		return reflect.ValueOf(textString(text))
	}
	return reflect.ValueOf(textValue{text})
}

// messageOf is the text of an error that this program has made itself, and the result of a method
// that depends only on a known receiver.
func (d *Driver) messageOf(s *State, v Value, t types.Type, fn *ssa.Function) (string, bool) {
	name := functionName(fn)
	switch name {
	case "(*errors.errorString).Error", "(*fmt.wrapError).Error", "(*fmt.wrapErrors).Error":
		if v == KStr("context.Canceled") {
			return "context canceled", true
		}
		if p, ok := v.(Ptr); ok && s.heap[p.object] != nil {
			message, ok := partOf(s.heap[p.object].value, p.path+"/0").(KStr)
			return string(message), ok
		}
		return "", false
	case "(runtime.errorString).Error":
		message, ok := v.(KStr)
		return string(message), ok
	case "(context.deadlineExceededError).Error":
		return "context deadline exceeded", true
	}
	if result, ok := d.callNative(s, nil, Target{fn, []Value{v}}); ok {
		message, ok := result.(KStr)
		return string(message), ok
	}
	return "", false
}

// basic is a number, string or flag.
func (p *printer) basic(v Value, t *types.Basic) reflect.Value {
	p.trace.WriteString(text(v) + ",")
	if as := basicType(t); as != nil {
		if known, ok := p.d.native(p.s, v, as); ok {
			return known
		}
	}
	return p.inexact()
}

// basicType is the type of this program for a basic type.
func basicType(t *types.Basic) reflect.Type {
	switch t.Kind() {
	case types.Bool:
		return reflect.TypeFor[bool]()
	case types.String:
		return reflect.TypeFor[string]()
	case types.Int:
		return reflect.TypeFor[int]()
	case types.Int8:
		return reflect.TypeFor[int8]()
	case types.Int16:
		return reflect.TypeFor[int16]()
	case types.Int32:
		return reflect.TypeFor[int32]()
	case types.Int64:
		return reflect.TypeFor[int64]()
	case types.Uint:
		return reflect.TypeFor[uint]()
	case types.Uint8:
		return reflect.TypeFor[uint8]()
	case types.Uint16:
		return reflect.TypeFor[uint16]()
	case types.Uint32:
		return reflect.TypeFor[uint32]()
	case types.Uint64:
		return reflect.TypeFor[uint64]()
	case types.Float32:
		return reflect.TypeFor[float32]()
	case types.Float64:
		return reflect.TypeFor[float64]()
	}
	return nil
}

// typeFor is a type of this program for the parts of a list, struct or map. What is printed by a
// method is a text in an interface.
func (p *printer) typeFor(t types.Type, as visit, hidden bool, depth int) (reflect.Type, bool) {
	if types.IsInterface(t) || p.method(t, as) != nil && !hidden {
		return reflect.TypeFor[any](), true
	}
	if depth > 8 {
		return nil, false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		basic := basicType(u)
		return basic, basic != nil
	case *types.Slice:
		elem, ok := p.typeFor(u.Elem(), as, hidden || isText(u.Elem(), as), depth+1)
		if !ok {
			return nil, false
		}
		return reflect.SliceOf(elem), true
	case *types.Array:
		elem, ok := p.typeFor(u.Elem(), as, hidden || isText(u.Elem(), as), depth+1)
		if !ok || u.Len() > largest {
			return nil, false
		}
		return reflect.ArrayOf(int(u.Len()), elem), true
	case *types.Struct:
		var fields []reflect.StructField
		for field := range u.Fields() {
			within := hidden || !field.Exported()
			inner, ok := p.typeFor(field.Type(), as, within, depth+1)
			if !ok || field.Name() == "_" || field.Embedded() && !field.Exported() {
				return nil, false
			}
			one := reflect.StructField{Name: field.Name(), Type: inner, Tag: reflect.StructTag(u.Tag(len(fields)))}
			if !field.Exported() {
				one.PkgPath = "main"
			}
			fields = append(fields, one)
		}
		return reflect.StructOf(fields), true
	case *types.Map:
		key, isBasic := u.Key().Underlying().(*types.Basic)
		elem, ok := p.typeFor(u.Elem(), as, hidden, depth+1)
		if !isBasic || !ok || key.Info()&types.IsFloat != 0 || basicType(key) == nil || p.method(u.Key(), as) != nil {
			return nil, false
		}
		return reflect.MapOf(basicType(key), elem), true
	case *types.Pointer:
		return reflect.TypeFor[*struct{}](), true
	case *types.Signature, *types.Chan:
		return reflect.TypeFor[chan int](), true
	}
	return nil, false
}

// isText tells whether a list of such elements is printed as a text.
func isText(element types.Type, as visit) bool {
	basic, ok := element.Underlying().(*types.Basic)
	return ok && basic.Kind() == types.Uint8 && strings.ContainsRune("sqxX", as.verb)
}

// list is a slice or array.
func (p *printer) list(elems []Value, t, element types.Type, as visit, depth int, hidden bool) reflect.Value {
	hidden = hidden || isText(element, as)
	fmt.Fprintf(&p.trace, "[%d", len(elems))
	list := p.made(t, as, hidden)
	if list.IsValid() && list.Kind() == reflect.Slice && elems != nil {
		list.Set(reflect.MakeSlice(list.Type(), len(elems), len(elems)))
	}
	for i, e := range elems {
		one := p.show(e, element, as, depth+1, hidden)
		if list.IsValid() && one.IsValid() && i < list.Len() {
			p.set(list.Index(i), one)
		}
	}
	return list
}

// made is a new variable for a list, struct or map.
func (p *printer) made(t types.Type, as visit, hidden bool) reflect.Value {
	made, ok := p.typeFor(t.Underlying(), as, hidden, 0)
	if !ok {
		return p.inexact()
	}
	return reflect.New(made).Elem()
}

// set stores a part, even into a field that is not exported.
func (p *printer) set(part, v reflect.Value) {
	if !v.Type().AssignableTo(part.Type()) {
		p.exact = false
		return
	}
	reflect.NewAt(part.Type(), unsafe.Pointer(part.UnsafeAddr())).Elem().Set(v)
}

// structure is a struct.
func (p *printer) structure(v Value, t *types.Struct, as visit, depth int, hidden bool) reflect.Value {
	agg, ok := v.(Agg)
	if !ok || len(agg.elems) != t.NumFields() {
		return p.inexact()
	}
	made := p.made(t, as, hidden)
	for i, e := range agg.elems {
		field := t.Field(i)
		var one reflect.Value
		if field.Embedded() && !field.Exported() && !hidden {
			// Its own methods are not called, but those of its exported fields are.
			p.exact = false
			if inner, ok := field.Type().Underlying().(*types.Struct); ok {
				p.structure(e, inner, as, depth+1, false)
			}
			continue
		}
		one = p.show(e, field.Type(), as, depth+1, hidden || !field.Exported())
		if made.IsValid() && one.IsValid() {
			p.set(made.Field(i), one)
		}
	}
	return made
}

// pointer is a pointer: fmt follows one that is an argument, and prints the address of others.
func (p *printer) pointer(v Value, t *types.Pointer, as visit, depth int, hidden bool) reflect.Value {
	if isNil(v) {
		p.trace.WriteString("nil,")
		return reflect.Zero(reflect.TypeFor[*struct{}]())
	}
	pointer, ok := v.(Ptr)
	if !ok || depth > 0 || p.s.heap[pointer.object] == nil {
		return p.inexact()
	}
	o := p.s.heap[pointer.object]
	if p.s.escaped[pointer.object] || o.kind != "memory" {
		p.exact = false
	}
	switch t.Elem().Underlying().(type) {
	case *types.Array, *types.Slice, *types.Struct, *types.Map:
		inner := p.show(partOf(o.value, pointer.path), t.Elem(), as, depth+1, hidden)
		if !inner.IsValid() {
			return p.inexact()
		}
		// A text in place of the whole would be printed without the &, and a method was called.
		if inner.Kind() == reflect.Pointer || inner.Type() == reflect.TypeFor[textValue]() || inner.Type() == reflect.TypeFor[formattedValue]() {
			return p.inexact()
		}
		to := reflect.New(inner.Type())
		to.Elem().Set(inner)
		return to
	}
	return p.inexact()
}

// table is a map: fmt prints it in the order of its keys.
func (p *printer) table(v Value, t types.Type, m *types.Map, as visit, depth int, hidden bool) reflect.Value {
	made := p.made(t, as, hidden)
	if isNil(v) {
		p.trace.WriteString("nil,")
		return made
	}
	pointer, ok := v.(Ptr)
	if !ok || p.s.heap[pointer.object] == nil {
		return p.inexact()
	}
	o := p.s.heap[pointer.object]
	if o.kind != "map" || o.blurred || p.s.escaped[pointer.object] {
		p.exact = false
	}
	keys, sorted := inOrder(o, m.Key())
	if made.IsValid() {
		made.Set(reflect.MakeMap(made.Type()))
	}
	before := len(p.methods)
	fmt.Fprintf(&p.trace, "map %d", len(keys))
	for _, key := range keys {
		shownKey := p.show(o.keys[key], m.Key(), as, depth+1, hidden)
		shown := p.show(o.entries[key], m.Elem(), as, depth+1, hidden)
		if made.IsValid() && shownKey.IsValid() && shown.IsValid() && shown.Type().AssignableTo(made.Type().Elem()) && shownKey.Type().AssignableTo(made.Type().Key()) {
			made.SetMapIndex(shownKey, shown)
		} else {
			p.exact = false
		}
	}
	if !sorted && len(keys) > 1 && len(p.effects(before)) > 0 {
		// The order of the methods is not known.
		p.exact = false
		p.methods, p.visits, p.traces = p.methods[:before], p.visits[:before], p.traces[:before]
		p.called(callback{}, as)
	}
	return made
}

// inOrder are the keys of a map in the order in which fmt prints them, if that is known.
func inOrder(o *Object, t types.Type) ([]string, bool) {
	keys := sortedKeys(o.entries)
	basic, ok := t.Underlying().(*types.Basic)
	if !ok || basic.Info()&(types.IsInteger|types.IsString) == 0 {
		return keys, false
	}
	known := true
	slices.SortFunc(keys, func(a, b string) int {
		switch x := o.keys[a].(type) {
		case KInt:
			if y, ok := o.keys[b].(KInt); ok && basic.Info()&types.IsUnsigned != 0 {
				return cmp.Compare(uint64(x), uint64(y))
			} else if ok {
				return cmp.Compare(x, y)
			}
		case KStr:
			if y, ok := o.keys[b].(KStr); ok {
				return cmp.Compare(x, y)
			}
		}
		known = false
		return 0
	})
	return keys, known
}
