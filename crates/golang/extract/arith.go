package main

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

func (d *Driver) binary(s *State, i *ssa.BinOp) Value {
	x, y := d.value(s, i.X), d.value(s, i.Y)
	if i.Op == token.EQL || i.Op == token.NEQ {
		return d.compare(s, x, y, i.Op == token.NEQ)
	}
	if a, ok := x.(KInt); ok {
		if b, ok := y.(KInt); ok {
			if v, ok := integers(i.Op, int64(a), int64(b)); ok {
				if n, ok := v.(KInt); ok {
					if basic, ok := i.Type().Underlying().(*types.Basic); ok {
						return wrapInteger(int64(n), basic)
					}
				}
				return v
			}
		}
	}
	if a, ok := x.(KStr); ok {
		if b, ok := y.(KStr); ok && i.Op == token.ADD && len(a)+len(b) < 200 {
			return a + b
		}
	}
	left, ok1 := scalar(x)
	right, ok2 := scalar(y)
	if ok1 && ok2 && left.size()+right.size() < 40 {
		op := i.Op.String()
		switch i.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			return Dyn{&Expr{op: op, args: []*Expr{left, right}}}
		case token.ADD, token.SUB, token.MUL:
			// In a loop without a known end numbers might grow for ever.
			if basic, ok := i.Type().Underlying().(*types.Basic); ok && basic.Info()&types.IsInteger != 0 && !s.multi {
				return Dyn{&Expr{op: op, args: []*Expr{left, right}}}
			}
		}
	}
	switch i.Op {
	case token.LSS, token.GEQ:
		return relation(x, y, i.Op == token.GEQ)
	case token.GTR, token.LEQ:
		return relation(y, x, i.Op == token.LEQ)
	}
	return d.unknown(s, here(s.top()), i, i.Type())
}

// relation is x < y, or its negation.
func relation(x, y Value, negated bool) Value {
	id := "less(" + text(x) + "," + text(y) + ")"
	if negated {
		id = "!" + id
	}
	return Sym{id}
}

func integers(op token.Token, a, b int64) (Value, bool) {
	switch op {
	case token.ADD:
		return KInt(a + b), true
	case token.SUB:
		return KInt(a - b), true
	case token.MUL:
		return KInt(a * b), true
	case token.QUO:
		if b != 0 {
			return KInt(a / b), true
		}
	case token.REM:
		if b != 0 {
			return KInt(a % b), true
		}
	case token.AND:
		return KInt(a & b), true
	case token.OR:
		return KInt(a | b), true
	case token.XOR:
		return KInt(a ^ b), true
	case token.AND_NOT:
		return KInt(a &^ b), true
	case token.SHL:
		if b >= 0 && b < 64 {
			return KInt(a << uint(b)), true
		}
	case token.SHR:
		if b >= 0 && b < 64 {
			return KInt(a >> uint(b)), true
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

// compare is x == y, or its negation.
func (d *Driver) compare(s *State, x, y Value, negated bool) Value {
	answer := func(same bool) Value { return KBool(same != negated) }
	if isConstant(x) && isConstant(y) {
		return answer(equal(x, y))
	}
	if isNil(x) {
		x, y = y, x
	}
	if isNil(y) {
		switch v := x.(type) {
		case Ptr, Clo, Model, Slc, Ifc:
			return answer(false)
		case Ref:
			if o := s.heap[v.object]; o != nil && o.nilable {
				return Dyn{&Expr{op: equality(negated), args: []*Expr{variable(v.object), {op: "nil"}}}}
			}
			return answer(false)
		}
	}
	switch a := x.(type) {
	case Ptr:
		if b, ok := y.(Ptr); ok {
			if a == b && !s.multiple(a.object) {
				return answer(true)
			}
			if a != b && (a.object != b.object || a.path != b.path) && !s.joined(a.object) && !s.joined(b.object) {
				return answer(false)
			}
		}
	case Ref:
		if b, ok := y.(Ref); ok {
			if a == b {
				return answer(true)
			}
			o, p := s.heap[a.object], s.heap[b.object]
			if o != nil && p != nil && o.kind == "chan" && p.kind == "chan" && d.sameType(a.object, b.object) {
				return Dyn{&Expr{op: equality(negated), args: []*Expr{variable(a.object), variable(b.object)}}}
			}
		}
	case Ifc:
		if b, ok := y.(Ifc); ok && a.typ != nil && b.typ != nil {
			if !types.Identical(a.typ, b.typ) {
				return answer(false)
			}
			return d.compare(s, a.v, b.v, negated)
		}
	}
	left, ok1 := scalar(x)
	right, ok2 := scalar(y)
	if ok1 && ok2 {
		if b, constant := y.(KBool); constant {
			if bool(b) != negated {
				return x
			}
			return Dyn{&Expr{op: "!", args: []*Expr{left}}}
		}
		return Dyn{&Expr{op: equality(negated), args: []*Expr{left, right}}}
	}
	a, b := text(x), text(y)
	if a > b && !isConstant(y) || isConstant(x) {
		a, b = b, a
	}
	id := "eq(" + a + "," + b + ")"
	if negated {
		id = "!" + id
	}
	return Sym{id}
}

func equality(negated bool) string {
	if negated {
		return "!="
	}
	return "=="
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
