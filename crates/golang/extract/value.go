package main

import (
	"fmt"
	"go/types"
	"math"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Value is what the driver knows about a Go value. Values are never changed in place.
type Value interface{}

type (
	// KBool, KInt, KFloat and KStr are values known exactly; KOther is any other constant.
	KBool  bool
	KInt   int64
	KFloat float64
	KStr   string
	KOther string
	// KNil is the nil of any type.
	KNil struct{}
	// Sym is a value that is not known. Equal identities mean equal values, so that two tests of
	// one unknown condition agree.
	Sym struct{ id string }
	// Dyn is an int or bool that the program computes when it runs.
	Dyn struct{ expr *Expr }
	// Ref is a channel, lock, wait group or shared cell.
	Ref struct{ object string }
	// Ptr points into an object of memory.
	Ptr struct{ object, path string }
	// Agg is a struct or array by value.
	Agg struct{ elems []Value }
	// Clo is a function with its captured variables.
	Clo struct {
		fn   *ssa.Function
		bind []Value
	}
	// Model is a function that the driver performs itself, such as a context's cancel.
	Model struct {
		name string
		args []Value
	}
	// Ifc is a value in an interface.
	Ifc struct {
		typ types.Type
		v   Value
	}
	// Slc is a slice of an array in memory.
	Slc struct {
		object, path string
		low, n, max  int
	}
	// Tup is the result of a call or instruction with several values.
	Tup struct{ elems []Value }
	// Any stands in memory for what other goroutines change in ways that are not followed.
	Any struct{}
	// Hole is the part of a message that is carried when the program runs. If it is the same object
	// in all messages, and the only one of its name, that is remembered, and so is whether a channel
	// may be nil.
	Hole struct {
		kind, key, object, clock string
		nilable                  bool
	}
	// Known is a part of a message that is always the same object.
	Known struct{ object string }
	// Box is a message's copy of an object that is reached through a pointer.
	Box struct {
		object, path string
		typ          types.Type
		content      Value
	}
	// Maybe is a part of a message that is nil in some messages.
	Maybe struct{ inner Value }
	// Iter is the state of a range over a string, by the next index, or over a map, by the keys that
	// were there at first and those that have been visited.
	Iter struct {
		of             Value
		next           int
		visited, first []string
	}
)

// Expr is an expression of Strait's language.
type Expr struct {
	op   string // "var", "int", "bool", "unit", "nil", or an operator
	name string
	n    int64
	args []*Expr
}

func variable(name string) *Expr { return &Expr{op: "var", name: name} }

func (e *Expr) String() string {
	switch e.op {
	case "var":
		return e.name
	case "int":
		return fmt.Sprint(e.n)
	case "bool":
		return fmt.Sprint(e.n != 0)
	case "unit":
		return "()"
	case "nil":
		return "nil"
	}
	if len(e.args) == 1 {
		return "(" + e.op + e.args[0].String() + ")"
	}
	return "(" + e.args[0].String() + " " + e.op + " " + e.args[1].String() + ")"
}

func (e *Expr) size() int {
	size := 1
	for _, arg := range e.args {
		size += arg.size()
	}
	return size
}

// rename replaces variables.
func (e *Expr) rename(names map[string]*Expr) *Expr {
	if e.op == "var" {
		if other := names[e.name]; other != nil {
			return other
		}
		return e
	}
	if len(e.args) == 0 {
		return e
	}
	args := make([]*Expr, len(e.args))
	for i, arg := range e.args {
		args[i] = arg.rename(names)
	}
	return &Expr{op: e.op, name: e.name, n: e.n, args: args}
}

// each visits the variables of an expression.
func (e *Expr) each(visit func(string)) {
	if e == nil {
		return
	}
	if e.op == "var" {
		visit(e.name)
	}
	for _, arg := range e.args {
		arg.each(visit)
	}
}

// scalar is the expression of a value that the program can hold as int or bool.
func scalar(v Value) (*Expr, bool) {
	switch v := v.(type) {
	case KBool:
		n := int64(0)
		if v {
			n = 1
		}
		return &Expr{op: "bool", n: n}, true
	case KInt:
		return &Expr{op: "int", n: int64(v)}, true
	case Dyn:
		return v.expr, true
	}
	return nil, false
}

// isBool tells which of the two scalar types an expression has.
func isBool(e *Expr, kinds map[string]string) bool {
	switch e.op {
	case "bool", "!", "==", "!=", "<", "<=", ">", ">=", "&&", "||":
		return true
	case "var":
		return kinds[e.name] == "bool"
	}
	return false
}

func isConstant(v Value) bool {
	switch v.(type) {
	case KBool, KInt, KFloat, KStr, KOther, KNil:
		return true
	}
	return false
}

// equal compares values by what is known of them.
func equal(a, b Value) bool {
	switch x := a.(type) {
	case KInt:
		y, ok := b.(KInt)
		return ok && x == y
	case KBool:
		y, ok := b.(KBool)
		return ok && x == y
	case KStr:
		y, ok := b.(KStr)
		return ok && x == y
	case Sym:
		y, ok := b.(Sym)
		return ok && x == y
	}
	switch b.(type) {
	case KInt, KBool, KStr, Sym:
		return false
	}
	return text(a) == text(b)
}

// text writes a value; equal texts mean equal values.
func text(v Value) string {
	var b strings.Builder
	write(&b, v)
	return b.String()
}

func write(b *strings.Builder, v Value) {
	switch v := v.(type) {
	case nil:
		b.WriteString("_")
	case KBool:
		b.WriteString(strconv.FormatBool(bool(v)))
	case KInt:
		var digits [20]byte
		b.Write(strconv.AppendInt(digits[:0], int64(v), 10))
	case KFloat:
		fmt.Fprintf(b, "f%x", math.Float64bits(float64(v)))
	case KStr:
		fmt.Fprintf(b, "%q", string(v))
	case KOther:
		fmt.Fprintf(b, "k%q", string(v))
	case KNil:
		b.WriteString("nil")
	case Sym:
		b.WriteString("?" + v.id)
	case Dyn:
		b.WriteString("dyn" + v.expr.String())
	case Ref:
		b.WriteString("@" + v.object)
	case Ptr:
		b.WriteString("&" + v.object + v.path)
	case Agg:
		b.WriteString("{")
		for _, e := range v.elems {
			write(b, e)
			b.WriteString(",")
		}
		b.WriteString("}")
	case Tup:
		b.WriteString("(")
		for _, e := range v.elems {
			write(b, e)
			b.WriteString(",")
		}
		b.WriteString(")")
	case Clo:
		fmt.Fprintf(b, "fn %p[", v.fn)
		for _, e := range v.bind {
			write(b, e)
			b.WriteString(",")
		}
		b.WriteString("]")
	case Model:
		b.WriteString("model " + v.name + "[")
		for _, e := range v.args {
			write(b, e)
			b.WriteString(",")
		}
		b.WriteString("]")
	case Ifc:
		b.WriteString("i<")
		if v.typ != nil {
			b.WriteString(typeName(v.typ))
		}
		b.WriteString(">")
		write(b, v.v)
	case Slc:
		fmt.Fprintf(b, "%s%s[%d:%d:%d]", v.object, v.path, v.low, v.n, v.max)
	case Any:
		b.WriteString("any")
	case Hole:
		b.WriteString("hole " + v.kind + " " + v.key + " " + v.object + " " + v.clock)
		if v.nilable {
			b.WriteString(" or nil")
		}
	case Known:
		b.WriteString("known " + v.object)
	case Box:
		b.WriteString("box " + v.object + v.path + "(")
		write(b, v.content)
		b.WriteString(")")
	case Maybe:
		// Like everything that a shape leaves unknown, it has a question mark.
		b.WriteString("nil?(")
		write(b, v.inner)
		b.WriteString(")")
	case Tagged:
		b.WriteString(v.String())
	case Iter:
		write(b, v.of)
		b.WriteString("~" + v.position())
	default:
		fmt.Fprintf(b, "%T", v)
	}
}

// children lists the values directly inside a value.
func children(v Value) []Value {
	switch v := v.(type) {
	case Agg:
		return v.elems
	case Tup:
		return v.elems
	case Clo:
		return v.bind
	case Model:
		return v.args
	case Ifc:
		return []Value{v.v}
	case Box:
		return []Value{v.content}
	case Maybe:
		return []Value{v.inner}
	case Iter:
		return []Value{v.of}
	}
	return nil
}

// rebuild makes the same value around other children.
func rebuild(v Value, inner []Value) Value {
	switch v := v.(type) {
	case Agg:
		return Agg{inner}
	case Tup:
		return Tup{inner}
	case Clo:
		return Clo{v.fn, inner}
	case Model:
		return Model{v.name, inner}
	case Ifc:
		return Ifc{v.typ, inner[0]}
	case Box:
		return Box{v.object, v.path, v.typ, inner[0]}
	case Maybe:
		return Maybe{inner[0]}
	case Iter:
		return Iter{inner[0], v.next, v.visited, v.first}
	}
	return v
}

// objectOf is the object that a value refers to directly.
func objectOf(v Value) (string, bool) {
	switch v := v.(type) {
	case Ref:
		return v.object, true
	case Ptr:
		return v.object, true
	case Slc:
		return v.object, true
	}
	return "", false
}

// at reads the part of a value at a path such as "/0/2".
func at(v Value, path string) (Value, bool) {
	for path != "" {
		if low, n, rest, ok := window(path); ok {
			agg, isAgg := v.(Agg)
			if !isAgg || low+n > len(agg.elems) {
				return nil, false
			}
			v, path = Agg{agg.elems[low : low+n : low+n]}, rest
			continue
		}
		index, rest := step(path)
		agg, ok := v.(Agg)
		if !ok || index < 0 || index >= len(agg.elems) {
			if _, any := v.(Any); any {
				return v, true
			}
			return nil, false
		}
		v, path = agg.elems[index], rest
	}
	return v, true
}

// with replaces the part of a value at a path.
func with(v Value, path string, part Value) (Value, bool) {
	if path == "" {
		return part, true
	}
	if low, n, rest, ok := window(path); ok {
		agg, isAgg := v.(Agg)
		if !isAgg || low+n > len(agg.elems) {
			return v, false
		}
		inner, ok := with(Agg{agg.elems[low : low+n : low+n]}, rest, part)
		now, isAgg := inner.(Agg)
		if !ok || !isAgg || len(now.elems) != n {
			return v, false
		}
		elems := append([]Value(nil), agg.elems...)
		copy(elems[low:], now.elems)
		return Agg{elems}, true
	}
	index, rest := step(path)
	agg, ok := v.(Agg)
	if !ok || index < 0 || index >= len(agg.elems) {
		return v, false
	}
	inner, ok := with(agg.elems[index], rest, part)
	if !ok {
		return v, false
	}
	elems := append([]Value(nil), agg.elems...)
	elems[index] = inner
	return Agg{elems}, true
}

func step(path string) (int, string) {
	end := 1
	n := 0
	if len(path) > 1 && path[1] == '*' {
		return -1, path[2:]
	}
	for end < len(path) && path[end] != '/' {
		n = n*10 + int(path[end]-'0')
		end++
	}
	return n, path[end:]
}

// sub is the path of a part of what is at a path.
func sub(path string, index int) string {
	if at := strings.LastIndexByte(path, '/'); at >= 0 {
		if low, _, rest, ok := window(path[at:]); ok && rest == "" {
			// An element of a window is one of the array.
			return path[:at] + "/" + strconv.Itoa(low+index)
		}
	}
	return path + "/" + strconv.Itoa(index)
}

// windowAt is the path of a part of an array that is an array itself.
func windowAt(path string, low, n int) string { return fmt.Sprintf("%s/@%d+%d", path, low, n) }

// window takes the first step of a path apart if it is one into a part of an array.
func window(path string) (low, n int, rest string, ok bool) {
	if len(path) < 2 || path[1] != '@' {
		return 0, 0, "", false
	}
	end := strings.IndexByte(path[1:], '/') + 1
	if end == 0 {
		end = len(path)
	}
	if _, err := fmt.Sscanf(path[2:end], "%d+%d", &low, &n); err != nil {
		return 0, 0, "", false
	}
	return low, n, path[end:], true
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
