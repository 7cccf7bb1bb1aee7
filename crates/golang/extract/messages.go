package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// Messages are what is known of everything that is sent on the channels of one origin, or stored in
// one cell: a shape that all messages have, with at most one hole for what differs. The hole is
// what the program carries.
type Messages struct {
	same  *Messages // this and that are one
	shape Value     // nil before the first message
	key   string
	lost  bool     // two holes were needed: the second part of messages is not known
	rows  []tabled // the messages, as long as each is known as a whole
	open  bool     // not all are
	deep  bool     // channels of channels without end: the program cannot carry them
	// Is a number or flag that is carried used where the program cannot compute with it?
	wanted bool
	// What the numbers are computed from that the program computes and that are sent.
	sources []*Messages
	// The objects in the shape, and the shape they were listed from.
	names           []string
	listed, version int
}

func (d *Driver) messages(key string) *Messages {
	m := d.facts.messages[key]
	if m == nil {
		m = &Messages{key: key, wanted: d.facts.wanted[key]}
		d.facts.messages[key] = m
	}
	return m.find()
}

func (m *Messages) find() *Messages {
	for m.same != nil {
		m = m.same
	}
	return m
}

// objects lists the objects that messages are known to hold.
func (m *Messages) objects() []string {
	if m.listed != m.version {
		m.names = nil
		collectKnown(m.shape, &m.names)
		m.listed = m.version
	}
	return m.names
}

// set replaces the shape.
func (m *Messages) set(shape Value) {
	m.shape = shape
	m.version++
}

func collectKnown(v Value, names *[]string) {
	name := ""
	switch v := v.(type) {
	case Known:
		name = v.object
	case Hole:
		name = v.object
	case Box:
		name = v.object
	}
	if name != "" {
		*names = append(*names, name)
	}
	for _, child := range children(v) {
		collectKnown(child, names)
	}
}

// unite makes two origins one: a variable may hold channels of both.
func (d *Driver) unite(a, b string) {
	m, n := d.messages(a), d.messages(b)
	if m == n {
		return
	}
	n.same = m
	if d.facts.closed[n.key] {
		d.facts.closed[m.key] = true
	}
	m.open = m.open || n.open
	for _, row := range n.rows {
		if !slices.ContainsFunc(m.rows, func(other tabled) bool { return other.written == row.written }) {
			m.rows = append(m.rows, row)
		}
	}
	m.open = m.open || len(m.rows) > mostTabled
	m.deep = m.deep || n.deep
	m.wanted = m.wanted || n.wanted
	m.sources = append(m.sources, n.sources...)
	shape := m.shape
	switch {
	case shape == nil:
		shape = n.shape
	case n.shape != nil:
		shape = d.joinShapes(shape, n.shape)
	}
	// What was joined may have made this origin one with yet another.
	if m = m.find(); shape != nil {
		m.set(d.carriable(m, shape))
	}
	d.changed = true
}

// carriable is a shape that the language can carry: one hole, and none for channels whose messages
// are channels without end, since their type cannot be written.
func (d *Driver) carriable(m *Messages, shape Value) Value {
	shape = oneHole(m, shape)
	if m.deep = m.deep || d.isDeep(m, shape); m.deep {
		if hole, ok := holeOf(shape); ok && hole.kind != "cell" {
			m.lost = true
		}
		count := 0
		shape = fillHoles(shape, &count, -1)
	}
	return shape
}

// deepestType is how many channels may be inside each other in a type.
const deepestType = 4

func (d *Driver) isDeep(m *Messages, shape Value) bool {
	hole, ok := holeOf(shape)
	for range deepestType {
		if !ok || hole.kind != "chan" && hole.kind != "cell" {
			return false
		}
		next := d.messages(hole.key)
		if next == m {
			return true
		}
		hole, ok = next.hole()
	}
	return ok && (hole.kind == "chan" || hole.kind == "cell")
}

// sameType tells whether two channels can be compared in the program.
func (d *Driver) sameType(a, b string) bool {
	return d.typeOf(d.keys[a], 0) == d.typeOf(d.keys[b], 0)
}

// join makes room for one more message.
func (m *Messages) join(d *Driver, s *State, v Value, t types.Type) {
	shape := d.shapeOf(s, v, 0)
	if m.shape != nil {
		shape = d.joinShapes(m.shape, shape)
	}
	m = m.find()
	shape = d.carriable(m, shape)
	if m.shape == nil || !equal(shape, m.shape) {
		m.set(shape)
		d.changed = true
	}
	m.tabulate(d, s, v)
}

// shapeOf is a value as a message: everything that only its goroutine knows becomes a hole.
func (d *Driver) shapeOf(s *State, v Value, depth int) Value {
	if depth > 5 {
		return Sym{"?"}
	}
	switch v := v.(type) {
	case Sym, Any, Iter, Slc, Tagged, nil:
		return Sym{"?"}
	case Dyn:
		if isBool(v.expr, d.kinds) {
			return Hole{kind: "bool"}
		}
		return Hole{kind: "int"}
	case Ref:
		o := s.heap[v.object]
		if o == nil || o.kind == "timer" || o.kind == "cell" && o.multi {
			return Sym{"?"}
		}
		hole := Hole{kind: o.kind, key: o.key, clock: o.clock}
		if !o.multi {
			hole.object = v.object
		}
		return hole
	case Ptr:
		o := s.heap[v.object]
		if o == nil || o.kind != "memory" {
			if o != nil && !o.multi {
				return Box{v.object, v.path, o.typ, Sym{"?"}}
			}
			return Sym{"?"}
		}
		content := d.shapeOf(s, o.value, depth+1)
		name := v.object
		if o.multi {
			name = ""
		}
		return Box{name, v.path, o.typ, content}
	}
	inner := children(v)
	if len(inner) == 0 {
		return v
	}
	out := make([]Value, len(inner))
	for i, child := range inner {
		out[i] = d.shapeOf(s, child, depth+1)
	}
	return rebuild(v, out)
}

// joinShapes is the least shape that both messages have.
func (d *Driver) joinShapes(a, b Value) Value {
	if equal(a, b) {
		return a
	}
	if scalarKind(a) != "" && scalarKind(a) == scalarKind(b) {
		return Hole{kind: scalarKind(a)}
	}
	if isNil(a) {
		a, b = b, a
	}
	if _, ok := b.(Maybe); ok {
		a, b = b, a
	}
	if hole, ok := b.(Hole); ok && hole.kind == "cell" {
		a, b = b, a
	}
	if _, ok := b.(Known); ok && isConstant(a) {
		a, b = b, a
	}
	switch x := a.(type) {
	case Maybe:
		if isNil(b) {
			return x
		}
		if y, ok := b.(Maybe); ok {
			b = y.inner
		}
		return maybe(d.joinShapes(x.inner, b))
	case Hole:
		if x.kind == "cell" {
			// A cell can only be known as part of its object, which is the same in all messages.
			if y, ok := b.(Known); ok && x.object == y.object {
				return y
			}
			if scalarKind(b) != "" || isConstant(b) {
				// An earlier run did not know yet that it is one.
				return x
			}
			break
		}
		if y, ok := b.(Hole); ok && x.kind == y.kind && x.clock == y.clock {
			if x.kind == "chan" {
				d.unite(x.key, y.key)
			}
			if x.object != y.object {
				x.object = ""
			}
			return x
		}
		if y, ok := b.(Known); ok {
			if x.object == y.object {
				return y
			}
			x.object = ""
			return x
		}
		if isNil(b) && x.kind == "chan" {
			x.object = ""
			return x
		}
	case Known:
		if y, ok := b.(Hole); ok {
			return d.joinShapes(y, x)
		}
		if scalarKind(b) != "" || isConstant(b) && !isNil(b) {
			return x
		}
	case Box:
		if isNil(b) {
			return Maybe{x}
		}
		if y, ok := b.(Box); ok && x.path == y.path && types.Identical(x.typ, y.typ) {
			name := x.object
			if y.object != name {
				name = ""
			}
			return Box{name, x.path, x.typ, d.joinShapes(x.content, y.content)}
		}
	case Clo:
		if isNil(b) {
			return Maybe{x}
		}
		if y, ok := b.(Clo); ok && x.fn == y.fn {
			return d.joinChildren(x, y)
		}
	case Model:
		if y, ok := b.(Model); ok && x.name == y.name && len(x.args) == len(y.args) {
			return d.joinChildren(x, y)
		}
	case Ifc:
		if isNil(b) {
			return Sym{"?"}
		}
		if y, ok := b.(Ifc); ok && x.typ != nil && y.typ != nil && types.Identical(x.typ, y.typ) {
			return d.joinChildren(x, y)
		}
	case Agg:
		if y, ok := b.(Agg); ok && len(x.elems) == len(y.elems) {
			return d.joinChildren(x, y)
		}
		if isNil(b) {
			return x
		}
	}
	return Sym{"?"}
}

// maybe is a shape, or nil.
func maybe(shape Value) Value {
	switch shape.(type) {
	case Sym, Maybe:
		return shape
	}
	return Maybe{shape}
}

func (d *Driver) joinChildren(a, b Value) Value {
	x, y := children(a), children(b)
	out := make([]Value, len(x))
	for i := range x {
		out[i] = d.joinShapes(x[i], y[i])
	}
	return rebuild(a, out)
}

func scalarKind(v Value) string {
	switch v := v.(type) {
	case KInt:
		return "int"
	case KBool:
		return "bool"
	case Hole:
		if v.kind == "int" || v.kind == "bool" {
			return v.kind
		}
	}
	return ""
}

// oneHole keeps one hole: a channel or lock before a number, the first before the others. What is
// always the same object needs none.
func oneHole(m *Messages, shape Value) Value {
	var holes []Hole
	collectHoles(shape, &holes)
	if len(holes) <= 1 {
		return shape
	}
	isCell := func(hole Hole) bool { return hole.kind == "cell" }
	isOther := func(hole Hole) bool { return hole.kind != "cell" }
	if slices.ContainsFunc(holes, isCell) && slices.ContainsFunc(holes, isOther) {
		// Everything else has no other way.
		return oneHole(m, withoutCells(shape))
	}
	keep := -1
	objects := 0
	for i, hole := range holes {
		if scalarKind(hole) == "" && hole.object == "" {
			if objects == 0 {
				keep = i
			}
			objects++
		}
	}
	if objects > 1 {
		m.lost = true
	}
	for i, hole := range holes {
		if keep < 0 && scalarKind(hole) == "" || objects == 0 && keep >= 0 && scalarKind(holes[keep]) == "" && scalarKind(hole) != "" {
			// Who receives may know the object anyway; a number has no other way.
			keep = i
		}
	}
	if keep < 0 {
		keep = 0
	}
	count := 0
	return fillHoles(shape, &count, keep)
}

// withoutCells is a shape that carries no cell.
func withoutCells(shape Value) Value {
	if hole, ok := shape.(Hole); ok && hole.kind == "cell" {
		return Known{hole.object}
	}
	inner := children(shape)
	if len(inner) == 0 {
		return shape
	}
	out := make([]Value, len(inner))
	for i, child := range inner {
		out[i] = withoutCells(child)
	}
	return rebuild(shape, out)
}

func collectHoles(v Value, holes *[]Hole) {
	if hole, ok := v.(Hole); ok {
		*holes = append(*holes, hole)
	}
	for _, child := range children(v) {
		collectHoles(child, holes)
	}
}

func fillHoles(v Value, count *int, keep int) Value {
	if hole, ok := v.(Hole); ok {
		*count++
		if *count-1 != keep {
			if hole.object != "" {
				return Known{hole.object}
			}
			return Sym{"?"}
		}
		return v
	}
	inner := children(v)
	if len(inner) == 0 {
		return v
	}
	out := make([]Value, len(inner))
	for i, child := range inner {
		out[i] = fillHoles(child, count, keep)
	}
	return rebuild(v, out)
}

// hole is what the program carries.
func (m *Messages) hole() (Hole, bool) {
	if m.usesTable() {
		return Hole{kind: "int"}, len(m.rows) > 1
	}
	return holeOf(m.shape)
}

func holeOf(shape Value) (Hole, bool) {
	var holes []Hole
	collectHoles(shape, &holes)
	if len(holes) == 0 {
		return Hole{}, false
	}
	return holes[0], true
}

func (m *Messages) kind(d *Driver) string {
	if hole, ok := m.hole(); ok {
		return hole.kind
	}
	return "unit"
}

// typeOf writes the type of messages of an origin.
func (d *Driver) typeOf(key string, depth int) string {
	hole, ok := d.messages(key).hole()
	if !ok || depth > deepestType {
		return "unit"
	}
	if hole.kind == "chan" || hole.kind == "cell" {
		return "chan " + d.typeOf(hole.key, depth+1)
	}
	return hole.kind
}

// encode is what the program sends for a message.
func (m *Messages) encode(d *Driver, s *State, v Value) (*Expr, bool) {
	hole, ok := m.hole()
	if !ok {
		return &Expr{op: "unit"}, true
	}
	if m.usesTable() {
		row, ok := m.row(d, s, v)
		return &Expr{op: "int", n: int64(row)}, ok
	}
	found := d.carried(s, m.shape, v)
	if found == nil {
		switch hole.kind {
		case "int":
			return &Expr{op: "int"}, false
		case "bool":
			return &Expr{op: "bool"}, false
		case "chan":
			return &Expr{op: "nil"}, true
		}
		return nil, false
	}
	return found, true
}

// carried finds the part of a value where its shape has the hole.
func (d *Driver) carried(s *State, shape, v Value) *Expr {
	switch sh := shape.(type) {
	case Maybe:
		if hole, ok := holeOf(sh.inner); ok && isNil(v) {
			// Receivers look whether it is nil before they look at what is carried.
			return zeroCarried(hole)
		}
		return d.carried(s, sh.inner, v)
	case Hole:
		if r, ok := v.(Ref); sh.kind == "cell" && (!ok || s.heap[r.object] == nil || s.heap[r.object].kind != "cell") {
			return nil
		}
		switch x := v.(type) {
		case Ref:
			return variable(x.object)
		case KNil:
			if sh.kind == "chan" {
				return &Expr{op: "nil"}
			}
		}
		if e, ok := scalar(v); ok {
			return e
		}
		return nil
	case Box:
		if p, ok := v.(Ptr); ok {
			if o := s.heap[p.object]; o != nil {
				return d.carried(s, sh.content, o.value)
			}
		}
		return nil
	}
	x, y := children(shape), children(v)
	for i := range x {
		if i < len(y) {
			if e := d.carried(s, x[i], y[i]); e != nil {
				return e
			}
		}
	}
	return nil
}

// zeroCarried is what the program carries where a message has nothing to carry, if there is such a
// thing.
func zeroCarried(hole Hole) *Expr {
	switch hole.kind {
	case "int", "bool":
		return &Expr{op: hole.kind}
	case "chan":
		return &Expr{op: "nil"}
	}
	return nil
}

// decode is what a receiver knows of a message whose carried part is in a variable.
func (m *Messages) decode(d *Driver, s *State, name, key string, t types.Type) Value {
	if m.shape == nil {
		return d.unknown(s, key, nil, t)
	}
	if m.usesTable() {
		return m.fromTable(d, s, name)
	}
	d.origins[name] = m
	return d.decodeShape(s, m.shape, name, key, "", t)
}

func (d *Driver) decodeShape(s *State, shape Value, name, key, path string, t types.Type) Value {
	switch sh := shape.(type) {
	case Sym:
		return d.unknown(s, key+path, nil, t)
	case Maybe:
		return eitherNil(name+path, d.decodeShape(s, sh.inner, name, key, path+"/m", t))
	case Known:
		if s.heap[sh.object] != nil {
			return Ref{sh.object}
		}
		return d.unknown(s, key+path, nil, t)
	case Hole:
		switch sh.kind {
		case "int", "bool":
			d.kinds[name] = sh.kind
			return Dyn{variable(name)}
		}
		d.kinds[name], d.keys[name] = d.kindOf(sh.kind), sh.key
		if sh.kind == "cell" {
			s.heap[name] = &Object{kind: "cell", key: sh.key, typ: t}
			s.escaped[name] = true
			return Ref{name}
		}
		s.heap[name] = &Object{kind: sh.kind, key: sh.key, multi: true, nilable: sh.kind == "chan", typ: chanElement(t), room: -1, clock: sh.clock}
		s.escaped[name] = true
		return Ref{name}
	case Box:
		if sh.object != "" && s.heap[sh.object] != nil && !s.heap[sh.object].multi {
			return Ptr{sh.object, sh.path}
		}
		if _, isMap := sh.typ.Underlying().(*types.Map); sh.object != "" && s.heap[sh.object] == nil && !isMap {
			d.meetObject(s, sh, name, key, path)
			return Ptr{sh.object, sh.path}
		}
		object := fmt.Sprintf("msg_%s%s", name, strings.ReplaceAll(path, "/", "_"))
		content := d.decodeShape(s, sh.content, name, key, path+"/b", sh.typ)
		d.double(sh.typ)
		s.heap[object] = &Object{kind: "memory", typ: sh.typ, value: content, multi: true}
		s.escaped[object] = true
		return Ptr{object, sh.path}
	}
	inner := children(shape)
	if len(inner) == 0 {
		return shape
	}
	out := make([]Value, len(inner))
	for i, child := range inner {
		var part types.Type
		if _, ok := shape.(Agg); ok {
			part = partType(t, i)
		}
		if ifc, ok := shape.(Ifc); ok {
			part = ifc.typ
		}
		out[i] = d.decodeShape(s, child, name, key, fmt.Sprintf("%s/%d", path, i), part)
	}
	return rebuild(shape, out)
}

// meetObject makes an object known to a goroutine that receives a pointer to it. There is only one of
// this name. What any goroutine writes from now on is in cells, and a part that is one comes with
// the message, or is not followed at all.
func (d *Driver) meetObject(s *State, box Box, name, key, path string) {
	if !d.facts.met[box.object] {
		d.facts.met[box.object] = true
		d.changed = true
	}
	content := d.decodeShape(s, box.content, name, key, path+"/b", box.typ)
	s.heap[box.object] = &Object{kind: "memory", typ: box.typ, value: d.withoutWritten(s, box.object, "", content, false)}
	s.escaped[box.object] = true
}

// withoutWritten is the content of an object in which the parts that goroutines write are cells, or
// are not followed.
func (d *Driver) withoutWritten(s *State, object, path string, v Value, marked bool) Value {
	marked = marked || d.facts.shared[object+path]
	if agg, ok := v.(Agg); ok {
		elems := make([]Value, len(agg.elems))
		for i, e := range agg.elems {
			elems[i] = d.withoutWritten(s, object, sub(path, i), e, marked)
		}
		return Agg{elems}
	}
	if !marked || isLock(s, v) {
		return v
	}
	if r, ok := v.(Ref); ok && s.heap[r.object] != nil && s.heap[r.object].kind == "cell" {
		return v
	}
	d.abstract(object + path)
	return Any{}
}

func chanElement(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if c, ok := t.Underlying().(*types.Chan); ok {
		return c.Elem()
	}
	return nil
}
