package main

import (
	"fmt"
	"go/types"
	"maps"
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
	// The objects in the shape and in the rows, and the version they were listed from.
	names           []string
	listed, version int
	// How many rows there were when the run with this number began.
	offered, offeredIn int
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

// objects lists the objects that messages are known to hold: those of the shape, and those of the
// rows that were there when this run began.
func (m *Messages) objects(round int) []string {
	m.offer(round)
	if m.listed != m.version {
		m.names = nil
		collectKnown(m.shape, &m.names)
		if m.usesTable() {
			m.collectRows()
		}
		m.listed = m.version
	}
	return m.names
}

// offer notes how many rows there are when a run begins.
func (m *Messages) offer(round int) {
	if m.offeredIn != round {
		m.offered, m.offeredIn = len(m.rows), round
		m.version++
	}
}

// collectRows lists the channels and locks that the rows refer to: a goroutine that has them need not
// get them with the message. Memory comes with the row.
func (m *Messages) collectRows() {
	for _, row := range m.rows[:m.offered] {
		var refers []string
		collectReferences(row.value, &refers)
		for _, name := range sortedKeys(row.objects) {
			refers = append(refers, row.objects[name].references()...)
		}
		for _, name := range refers {
			if row.objects[name] == nil {
				m.names = append(m.names, name)
			}
		}
	}
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
	m.offer(d.facts.round)
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

// hole is what the program carries.
func (m *Messages) hole() (Hole, bool) {
	if m.usesTable() {
		return Hole{kind: "int"}, len(m.rows) > 1
	}
	return holeOf(m.shape)
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
			if !hole.nilable {
				m.set(d.nilableHole(m.shape))
				d.changed = true
			}
			return &Expr{op: "nil"}, true
		}
		return nil, false
	}
	return found, true
}

// nilableHole is a shape whose channel may be nil.
func (d *Driver) nilableHole(shape Value) Value {
	if hole, ok := shape.(Hole); ok {
		hole.nilable = true
		return hole
	}
	out, changed := replaceAll(children(shape), func(v Value) (Value, bool) { return d.nilableHole(v), true })
	if !changed {
		return shape
	}
	return rebuild(shape, out)
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
		// What comes with the message is there only if it is not nil.
		before := maps.Clone(s.heap)
		inner := d.decodeShape(s, sh.inner, name, key, path+"/m", t)
		objects := map[string]*Object{}
		for name, o := range s.heap {
			if before[name] == nil {
				objects[name] = o
				delete(s.heap, name)
				delete(s.escaped, name)
			}
		}
		either := eitherNil(name+path, inner, objects)
		if hole, ok := holeOf(sh.inner); ok && hole.kind == "chan" && !hole.nilable {
			// It is nil if what it would carry is.
			either.conditions = []*Expr{{op: "!=", args: []*Expr{variable(name), {op: "nil"}}}}
		}
		return either
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
		if o := s.heap[sh.object]; sh.kind == "chan" && o != nil && !o.multi {
			return Ref{sh.object}
		}
		if sh.clock == readyByContext {
			// Who receives does not know which contexts it depends on.
			return d.unknown(s, key+path, nil, t)
		}
		d.kinds[name], d.keys[name] = d.kindOf(sh.kind), sh.key
		if sh.kind == "cell" {
			s.heap[name] = &Object{kind: "cell", key: sh.key, typ: t}
			s.escaped[name] = true
			return Ref{name}
		}
		s.heap[name] = &Object{kind: sh.kind, key: sh.key, multi: true, nilable: sh.kind == "chan", typ: chanElement(t), room: -1}
		if sh.clock == readyByDeadline {
			s.heap[name].timed = true
		} else {
			s.heap[name].clock = sh.clock
		}
		s.escaped[name] = true
		return Ref{name}
	case Box:
		if sh.object != "" && s.heap[sh.object] != nil && !s.heap[sh.object].multi {
			return Ptr{sh.object, sh.path}
		}
		if _, isMap := sh.typ.Underlying().(*types.Map); isMap {
			// What a map holds does not come with the message.
			return d.unknown(s, key+path, nil, sh.typ)
		}
		if sh.object != "" && s.heap[sh.object] == nil {
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
