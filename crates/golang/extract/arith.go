package main

import (
	"go/token"
	"go/types"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/ssa"
)

// binary is the value of a binary operation. Division by zero and other panics are dealt with
// before it is asked for.
func (d *Driver) binary(s *State, i *ssa.BinOp) Value {
	x, y := d.value(s, i.X), d.value(s, i.Y)
	if i.Op == token.EQL || i.Op == token.NEQ {
		return d.compare(s, x, y, i.Op == token.NEQ)
	}
	basic, _ := i.X.Type().Underlying().(*types.Basic)
	if v, ok := constants(i.Op, x, y, basic); ok {
		return v
	}
	if v, ok := d.computed(s, i.Op, x, y, basic); ok {
		return v
	}
	if basic != nil && basic.Info()&types.IsFloat != 0 {
		// What is no number is neither less than another one nor not less.
		return d.derived(s, i, i.Op.String(), x, y)
	}
	switch i.Op {
	case token.LSS, token.GEQ:
		return relation(x, y, i.Op == token.GEQ)
	case token.GTR, token.LEQ:
		return relation(y, x, i.Op == token.LEQ)
	}
	return d.derived(s, i, i.Op.String(), x, y)
}

// constants computes with operands that are known.
func constants(op token.Token, x, y Value, basic *types.Basic) (Value, bool) {
	switch a := x.(type) {
	case KInt:
		if b, ok := y.(KInt); ok && basic != nil {
			return integers(op, int64(a), int64(b), basic)
		}
	case KFloat:
		if b, ok := y.(KFloat); ok && basic != nil {
			return floats(op, float64(a), float64(b), basic)
		}
	case KStr:
		if b, ok := y.(KStr); ok {
			return texts(op, string(a), string(b))
		}
	}
	return nil, false
}

// computed is an operation that the program performs when it runs.
func (d *Driver) computed(s *State, op token.Token, x, y Value, basic *types.Basic) (Value, bool) {
	left, ok1 := scalar(x)
	right, ok2 := scalar(y)
	if !ok1 || !ok2 || left.size()+right.size() >= 40 || basic == nil || basic.Info()&types.IsInteger == 0 {
		return nil, false
	}
	switch op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		switch basic.Kind() {
		case types.Uint, types.Uint64, types.Uintptr:
			return Dyn{unsignedOrder(op, left, right)}, true
		}
		return Dyn{&Expr{op: op.String(), args: []*Expr{left, right}}}, true
	case token.ADD, token.SUB, token.MUL:
		// In a loop without a known end numbers might grow forever. Other widths wrap elsewhere.
		if (!s.multi || d.limits.scalars) && (basic.Kind() == types.Int || basic.Kind() == types.Int64) {
			return Dyn{&Expr{op: op.String(), args: []*Expr{left, right}}}, true
		}
	}
	return nil, false
}

// unsignedOrder compares unsigned numbers of 64 bits, which are kept as the signed ones of the same
// bits: those with a sign are the larger ones.
func unsignedOrder(op token.Token, left, right *Expr) *Expr {
	if op == token.GTR || op == token.LEQ {
		left, right = right, left
	}
	negative := func(e *Expr) *Expr { return &Expr{op: "<", args: []*Expr{e, {op: "int"}}} }
	not := func(e *Expr) *Expr { return &Expr{op: "!", args: []*Expr{e}} }
	and := func(a, b *Expr) *Expr { return &Expr{op: "&&", args: []*Expr{a, b}} }
	// Either only the right one has a sign, or not only the left one has, and it is less.
	less := &Expr{op: "||", args: []*Expr{
		and(not(negative(left)), negative(right)),
		and(not(and(negative(left), not(negative(right)))), &Expr{op: "<", args: []*Expr{left, right}}),
	}}
	if op == token.GEQ || op == token.LEQ {
		return not(less)
	}
	return less
}

// longestUnknown is how long the name of an unknown may become that is computed from others.
const longestUnknown = 160

// derived is an unknown that is computed from others: equal ones are computed equally.
func (d *Driver) derived(s *State, i ssa.Value, op string, operands ...Value) Value {
	var b strings.Builder
	b.WriteString(op + "(")
	for _, operand := range operands {
		write(&b, operand)
		b.WriteString(",")
	}
	b.WriteString(")")
	id := b.String()
	if len(id) > longestUnknown || !strings.Contains(id, "«") || strings.Contains(id, "dyn") {
		return d.unknownFrom(s, here(s.top()), i, i.Type(), fromOutside(id) && !strings.Contains(id, "slice("))
	}
	return d.unknownOf(id, i.Type(), 0)
}

// fromOutside tells whether everything that is not known in a text comes from outside the program,
// and not from what this program has lost.
func fromOutside(written string) bool {
	found := false
	// Compared with a number that changes, one from outside is no free choice every time.
	all := !strings.Contains(written, "dyn")
	eachUnknown(written, func(token string) bool {
		found = true
		all = all && strings.HasPrefix(token, "«e")
		return true
	})
	return found && all
}

// relation is x < y, or its negation.
func relation(x, y Value, negated bool) Value {
	id := "less(" + text(x) + "," + text(y) + ")"
	if negated {
		id = "!" + id
	}
	return Sym{id}
}

// integers computes with the width and sign of a type. Unsigned numbers of 64 bits are kept as the
// signed ones of the same bits.
func integers(op token.Token, a, b int64, basic *types.Basic) (Value, bool) {
	unsigned := basic.Info()&types.IsUnsigned != 0
	wrap := func(n int64) (Value, bool) { return wrapInteger(n, basic), true }
	order := func(less, same bool) (Value, bool) {
		switch op {
		case token.LSS:
			return KBool(less), true
		case token.LEQ:
			return KBool(less || same), true
		case token.GTR:
			return KBool(!less && !same), true
		default:
			return KBool(!less), true
		}
	}
	switch op {
	case token.ADD:
		return wrap(a + b)
	case token.SUB:
		return wrap(a - b)
	case token.MUL:
		return wrap(a * b)
	case token.QUO, token.REM:
		return divided(op, a, b, unsigned, basic)
	case token.AND:
		return wrap(a & b)
	case token.OR:
		return wrap(a | b)
	case token.XOR:
		return wrap(a ^ b)
	case token.AND_NOT:
		return wrap(a &^ b)
	case token.SHL:
		if b < 0 || b >= 64 {
			return wrap(0)
		}
		return wrap(a << uint(b))
	case token.SHR:
		if b < 0 || b > 63 {
			b = 63
			if unsigned {
				return wrap(0)
			}
		}
		if unsigned {
			return wrap(int64(uint64(a) >> uint(b)))
		}
		return wrap(a >> uint(b))
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		if unsigned {
			return order(uint64(a) < uint64(b), a == b)
		}
		return order(a < b, a == b)
	}
	return nil, false
}

func divided(op token.Token, a, b int64, unsigned bool, basic *types.Basic) (Value, bool) {
	if b == 0 {
		return nil, false
	}
	switch {
	case unsigned && op == token.QUO:
		return wrapInteger(int64(uint64(a)/uint64(b)), basic), true
	case unsigned:
		return wrapInteger(int64(uint64(a)%uint64(b)), basic), true
	case b == -1 && op == token.QUO:
		return wrapInteger(-a, basic), true
	case b == -1:
		return KInt(0), true
	case op == token.QUO:
		return wrapInteger(a/b, basic), true
	}
	return wrapInteger(a%b, basic), true
}

// wrapInteger cuts a number to the width of its type.
func wrapInteger(n int64, basic *types.Basic) Value {
	switch basic.Kind() {
	case types.Int8:
		return KInt(int8(n))
	case types.Int16:
		return KInt(int16(n))
	case types.Int32:
		return KInt(int32(n))
	case types.Uint8:
		return KInt(uint8(n))
	case types.Uint16:
		return KInt(uint16(n))
	case types.Uint32:
		return KInt(uint32(n))
	}
	return KInt(n)
}

func floats(op token.Token, a, b float64, basic *types.Basic) (Value, bool) {
	number := func(x float64) (Value, bool) { return roundFloat(x, basic), true }
	switch op {
	case token.ADD:
		return number(a + b)
	case token.SUB:
		return number(a - b)
	case token.MUL:
		return number(a * b)
	case token.QUO:
		return number(a / b)
	case token.LSS:
		return KBool(a < b), true
	case token.LEQ:
		return KBool(a <= b), true
	case token.GTR:
		return KBool(a > b), true
	case token.GEQ:
		return KBool(a >= b), true
	}
	return nil, false
}

// roundFloat cuts a number to the width of its type.
func roundFloat(x float64, basic *types.Basic) Value {
	if basic.Kind() == types.Float32 {
		return KFloat(float32(x))
	}
	return KFloat(x)
}

// longestText is how long a known string may become.
const longestText = 4096

func texts(op token.Token, a, b string) (Value, bool) {
	switch op {
	case token.ADD:
		if len(a)+len(b) <= longestText {
			return KStr(a + b), true
		}
	case token.LSS:
		return KBool(a < b), true
	case token.LEQ:
		return KBool(a <= b), true
	case token.GTR:
		return KBool(a > b), true
	case token.GEQ:
		return KBool(a >= b), true
	}
	return nil, false
}

func isNil(v Value) bool {
	_, ok := v.(KNil)
	return ok
}

// equation takes "eq(a,b)" apart.
func equation(key string) (left, right string, ok bool) {
	inner, found := strings.CutPrefix(key, "eq(")
	if !found {
		return "", "", false
	}
	inner = strings.TrimSuffix(inner, ")")
	comma := strings.LastIndex(inner, ",")
	if comma < 0 {
		return "", "", false
	}
	return inner[:comma], inner[comma+1:], true
}

func unknownText(written string) bool { return strings.ContainsAny(written, "?&@«") }

// multiple tells whether a name may stand for several objects.
func (s *State) multiple(name string) bool {
	o := s.heap[name]
	return o == nil || o.multi
}

// joined tells whether an object stands for one of several.
func (s *State) joined(name string) bool {
	return strings.HasPrefix(name, "j_") || strings.HasPrefix(name, "msg_")
}

// convert is a conversion between types.
func (d *Driver) convert(s *State, i ssa.Value, from ssa.Value) Value {
	x := d.value(s, from)
	to := i.Type().Underlying()
	basic, _ := to.(*types.Basic)
	source, _ := from.Type().Underlying().(*types.Basic)
	switch v := x.(type) {
	case KInt:
		switch {
		case basic == nil:
		case basic.Info()&types.IsInteger != 0:
			return wrapInteger(int64(v), basic)
		case basic.Info()&types.IsFloat != 0:
			if source != nil && source.Info()&types.IsUnsigned != 0 {
				return roundFloat(float64(uint64(v)), basic)
			}
			return roundFloat(float64(int64(v)), basic)
		case basic.Info()&types.IsString != 0:
			if v < 0 || v > utf8.MaxRune {
				return KStr(string(utf8.RuneError))
			}
			return KStr(string(rune(v)))
		}
	case KFloat:
		switch {
		case basic == nil:
		case basic.Info()&types.IsFloat != 0:
			return roundFloat(float64(v), basic)
		case basic.Info()&types.IsInteger != 0 && math.Abs(float64(v)) < 1<<53:
			return wrapInteger(int64(v), basic)
		}
	case Dyn:
		// A wider type holds the same number.
		if basic != nil && source != nil && basic.Info()&types.IsInteger != 0 && holdsAll(basic.Kind(), source.Kind()) {
			return v
		}
	case KStr:
		if basic != nil && basic.Info()&types.IsString != 0 {
			return v
		}
		if slice, ok := to.(*types.Slice); ok {
			return d.textAsSlice(s, i, string(v), slice)
		}
	case Slc:
		if basic != nil && basic.Info()&types.IsString != 0 {
			if known, ok := d.sliceAsText(s, v, from.Type()); ok {
				return known
			}
		}
		if _, ok := to.(*types.Slice); ok {
			return v
		}
	case KNil:
		if basic != nil && basic.Info()&types.IsString != 0 {
			return KStr("")
		}
		return v
	case Ptr:
		if _, ok := to.(*types.Pointer); ok {
			if _, unsafe := from.Type().Underlying().(*types.Pointer); unsafe {
				return v
			}
		}
	}
	return d.derived(s, i, "convert "+typeName(i.Type()), x)
}

// holdsAll tells whether an integer type holds every number of another as it is.
func holdsAll(to, from types.BasicKind) bool {
	if to == from {
		return true
	}
	switch to {
	case types.Int, types.Int64:
		switch from {
		case types.Int, types.Int64, types.Int32, types.Int16, types.Int8, types.Uint32, types.Uint16, types.Uint8:
			return true
		}
	}
	return false
}

// textAsSlice is []byte(s) or []rune(s).
func (d *Driver) textAsSlice(s *State, i ssa.Value, known string, t *types.Slice) Value {
	var elems []Value
	if element, ok := t.Elem().Underlying().(*types.Basic); ok && element.Kind() == types.Uint8 {
		for _, b := range []byte(known) {
			elems = append(elems, KInt(b))
		}
	} else {
		for _, r := range known {
			elems = append(elems, KInt(r))
		}
	}
	return d.newSlice(s, i, t, elems, len(elems))
}

// sliceAsText is string(b).
func (d *Driver) sliceAsText(s *State, v Slc, t types.Type) (Value, bool) {
	elems := d.elements(s, v)
	if elems == nil && v.n > 0 {
		return nil, false
	}
	slice, ok := t.Underlying().(*types.Slice)
	if !ok {
		return nil, false
	}
	element, _ := slice.Elem().Underlying().(*types.Basic)
	var b strings.Builder
	for _, e := range elems {
		n, ok := e.(KInt)
		if !ok {
			return nil, false
		}
		if element != nil && element.Kind() == types.Uint8 {
			b.WriteByte(byte(n))
		} else {
			b.WriteRune(rune(n))
		}
	}
	return KStr(b.String()), true
}
