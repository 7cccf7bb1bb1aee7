package main

import (
	"fmt"
	"go/types"
	"io"
	"reflect"
	"strings"

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

func (t textValue) Error() string { return t.text }

func (t textValue) GoString() string { return t.text }

// textString is the same for values that are strings: fmt.Sprint sets no spaces around them.
type textString string

func (t textString) Error() string { return string(t) }

func (t textString) GoString() string { return string(t) }

// formattedValue and formattedString are the same for values that are printed by a Format method:
// its output is not formatted any more.
type formattedValue struct{ text string }

func (t formattedValue) Format(f fmt.State, _ rune) { io.WriteString(f, t.text) }

func (t formattedValue) Error() string { return t.text }

type formattedString string

func (t formattedString) Format(f fmt.State, _ rune) { io.WriteString(f, string(t)) }

func (t formattedString) Error() string { return string(t) }

// nilReceiver is a nil pointer whose method panics.
type nilReceiver struct{}

func (*nilReceiver) Error() string { panic("nil receiver") }

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
		if sentinel, ok := v.(KStr); ok {
			message, ok := sentinelTexts[sentinel]
			return message, ok
		}
		if p, ok := v.(Ptr); ok && s.heap[p.object] != nil {
			message, ok := partOf(s.heap[p.object].value, p.path+"/0").(KStr)
			return string(message), ok
		}
		return "", false
	case "(runtime.errorString).Error", "(*runtime.PanicNilError).Error", "(*runtime.TypeAssertionError).Error":
		message, ok := v.(KStr)
		return string(message), ok
	case "(context.deadlineExceededError).Error":
		return "context deadline exceeded", true
	case "(*strconv.NumError).Error":
		return d.numErrorText(s, v)
	}
	if result, ok := d.callNative(s, nil, Target{fn, []Value{v}}); ok {
		message, ok := result.(KStr)
		return string(message), ok
	}
	return "", false
}
