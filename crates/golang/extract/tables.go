package main

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A message, or what a cell holds, is often one of a few values that are known as a whole: strings,
// errors, structs of several fields, slices. Then the program carries the number of the value in a
// table, and the receiver looks at the number as soon as it matters which one it is.

// mostTabled is how many different values a table has.
const mostTabled = 16

// lastWanting is the last run in which tables of numbers grow, and mostWanting is how often an entry
// is begun again because a number is wanted. Such an attempt may take more steps than others, up to
// mostStepsWanting; attempts that have more do without.
const (
	lastWanting      = 20
	mostWanting      = 3
	mostStepsWanting = 60_000
)

// want notes that the result of an instruction is not known although all its operands are known or
// computed by the program: it cannot compute the result, but the result is known for each value that
// they may have.
func (d *Driver) want(s *State, instr ssa.Instruction, result Value) {
	if _, unknown := result.(Sym); !unknown || !d.limits.scalars || d.limits.steps >= mostStepsWanting && len(d.facts.wanted) == 0 || d.facts.begun >= mostWanting {
		return
	}
	var wanted []*Messages
	for _, operand := range instr.Operands(nil) {
		if *operand == nil {
			continue
		}
		switch v := s.top().regs[*operand].(type) {
		case Sym:
			return
		case Dyn:
			v.expr.each(func(name string) {
				if m := d.origins[name]; m != nil {
					wanted = append(wanted, m.find())
				}
			})
		}
	}
	for _, m := range wanted {
		if m.mayBeKnown(5) {
			d.wantMessages(m)
		}
	}
}

// wantMessages notes that numbers in messages are wanted, and so are those they are computed from.
func (d *Driver) wantMessages(m *Messages) {
	if d.facts.wanted[m.key] {
		return
	}
	d.facts.wanted[m.key] = true
	d.wanting = true
	for _, source := range m.sources {
		d.wantMessages(source.find())
	}
}

// mayBeKnown tells whether messages are numbers that are known, or would be if others were.
func (m *Messages) mayBeKnown(depth int) bool {
	if !m.open {
		return true
	}
	for _, source := range m.sources {
		if depth == 0 || source.find() == m.find() || !source.find().mayBeKnown(depth-1) {
			return false
		}
	}
	return len(m.sources) > 0
}

// tabled is a value with the memory that belongs to it.
type tabled struct {
	value   Value
	written string
	objects map[string]*Object
	of      *Messages // whose table it is in, if any
}

// Tagged is one of several values; which, the program knows when it runs: the first whose condition
// is true, or the last. Without conditions it may be any.
type Tagged struct {
	id         string
	conditions []*Expr
	values     []tabled
}

// closed is a value as a row of a table, if it depends on nothing but constants, functions and
// objects of which there is only one.
func (d *Driver) closed(s *State, v Value) (tabled, bool) {
	row := tabled{value: v, objects: map[string]*Object{}}
	if !isClosed(v) {
		return row, false
	}
	fine := true
	s.disown()
	var b strings.Builder
	write(&b, v)
	inside := map[string]bool{} // what belongs to the channel of a context, and is known with it
	s.reach(v, map[string]bool{}, func(name string) {
		o := s.heap[name]
		if inside[name] {
			return
		}
		if o != nil && o.kind == "chan" {
			for _, part := range []string{o.ended, o.expired, o.cause} {
				inside[part] = true
			}
		}
		if o == nil || o.multi && o.kind != "memory" {
			fine = false
			return
		}
		switch o.kind {
		case "memory":
			if o.value == nil || !isClosed(o.value) {
				fine = false
				return
			}
			row.objects[name] = o
			b.WriteString(";" + name + "=" + o.remember().written)
		case "map":
			// A map that is written when others can see it is not the same for all of them.
			if o.blurred || o.guard != "" || s.escaped[name] && d.facts.shared[name+"/map"] {
				fine = false
				return
			}
			for _, v := range o.entries {
				fine = fine && isClosed(v)
			}
			row.objects[name] = o
			b.WriteString(";" + name + "=" + o.remember().written)
		}
	})
	row.written = b.String()
	return row, fine && len(row.objects) <= 32
}

// isClosed tells values in which everything is known.
func isClosed(v Value) bool {
	switch v.(type) {
	case Sym, Any, Dyn, Iter, Tagged, nil:
		return false
	}
	for _, child := range children(v) {
		if !isClosed(child) {
			return false
		}
	}
	return true
}

// tabulate adds a message to the table, as long as there is one.
func (m *Messages) tabulate(d *Driver, s *State, v Value) {
	if dyn, ok := v.(Dyn); ok {
		dyn.expr.each(func(name string) {
			if source := d.origins[name]; source != nil && !slices.Contains(m.sources, source) {
				m.sources = append(m.sources, source)
			}
		})
	}
	if m.open {
		return
	}
	row, ok := d.closed(s, v)
	if ok && slices.ContainsFunc(m.rows, func(other tabled) bool { return other.written == row.written }) {
		return
	}
	if !ok || len(m.rows) >= mostTabled || m.wanted && d.facts.round > lastWanting {
		if m.usesTable() {
			d.changed = true
		}
		m.open = true
		return
	}
	m.offer(d.facts.round)
	row.of = m
	m.rows = append(m.rows, row)
	if m.usesTable() {
		d.changed = true
	}
}

// usesTable tells whether the program carries the numbers of rows: when the shape of all messages
// leaves something unknown, or when a number that it carries is wanted as it is.
func (m *Messages) usesTable() bool {
	return !m.open && len(m.rows) > 0 && m.shape != nil && (m.lost || m.wanted || strings.Contains(text(m.shape), "?"))
}

// row is the number of a message in the table.
func (m *Messages) row(d *Driver, s *State, v Value) (int, bool) {
	row, ok := d.closed(s, v)
	if !ok {
		return 0, false
	}
	i := slices.IndexFunc(m.rows, func(other tabled) bool { return other.written == row.written })
	return i, i >= 0
}

// fromTable is what a receiver knows of a message whose number is in a variable.
func (m *Messages) fromTable(d *Driver, s *State, name string) Value {
	if len(m.rows) == 1 {
		return d.adopt(s, m.rows[0])
	}
	d.kinds[name] = "int"
	t := Tagged{id: name, values: m.rows}
	for i := range m.rows[:len(m.rows)-1] {
		t.conditions = append(t.conditions, &Expr{op: "==", args: []*Expr{variable(name), {op: "int", n: int64(i)}}})
	}
	return t
}

// adopt makes a row of a table a value of a state: memory that the state does not know comes along.
// If there may be several objects of a name, the one that the state knows is another one: then the
// row's object becomes a copy with a name of its own.
func (d *Driver) adopt(s *State, row tabled) Value {
	missing := false
	refers := func(name string) { missing = missing || row.objects[name] == nil && s.heap[name] == nil }
	for name, o := range row.objects {
		if s.heap[name] == nil || o.multi {
			for _, other := range o.references() {
				refers(other)
			}
		}
	}
	var check func(v Value)
	check = func(v Value) {
		if name, ok := objectOf(v); ok {
			refers(name)
		}
		for _, child := range children(v) {
			check(child)
		}
	}
	check(row.value)
	if missing {
		return d.abandon(s, row)
	}
	names := sortedKeys(row.objects)
	copies := map[string]string{}
	for _, name := range names {
		if s.heap[name] != nil && row.objects[name].multi {
			if row.objects[name].kind != "memory" {
				return d.abandon(s, row)
			}
			copies[name] = d.free(s, "msg_"+name)
			// The name is taken before the next copy asks for one.
			s.heap[copies[name]] = row.objects[name]
		}
	}
	for _, name := range names {
		o := row.objects[name]
		switch copied := copies[name]; {
		case copied != "":
			d.double(o.typ)
			s.heap[copied] = &Object{kind: "memory", typ: o.typ, value: redirected(o.value, copies), multi: true}
			s.escaped[copied] = true
		case s.heap[name] == nil:
			s.heap[name] = o
			if len(copies) > 0 && o.kind == "memory" {
				renamed := *o
				renamed.value, renamed.memory, renamed.owner = redirected(o.value, copies), nil, nil
				s.heap[name] = &renamed
			}
			s.escaped[name] = true
		}
	}
	return redirected(row.value, copies)
}

// redirected is a value that refers to copies of objects instead of the objects.
func redirected(v Value, copies map[string]string) Value {
	if len(copies) == 0 {
		return v
	}
	if name, ok := objectOf(v); ok && copies[name] != "" {
		switch v := v.(type) {
		case Ptr:
			return Ptr{copies[name], v.path}
		case Slc:
			v.object = copies[name]
			return v
		}
	}
	inner := children(v)
	if len(inner) == 0 {
		return v
	}
	out := make([]Value, len(inner))
	for i, child := range inner {
		out[i] = redirected(child, copies)
	}
	return rebuild(v, out)
}

// abandon gives up a table: who received the row does not have what it refers to.
func (d *Driver) abandon(s *State, row tabled) Value {
	if row.of != nil && !row.of.find().open {
		m := row.of.find()
		d.changed = true
		m.offer(d.facts.round)
		if slices.ContainsFunc(m.rows[:m.offered], func(other tabled) bool { return other.written == row.written }) {
			// It was known when this run began, so goroutines that have the objects have kept them.
			m.open = true
		}
	}
	return d.unknown(s, "adopted "+row.written, nil, nil)
}

// whenOpen is a received value that is the zero of its type if the channel is closed.
func whenOpen(ok string, v, zero Value) Value {
	return Tagged{id: "ok " + ok, conditions: []*Expr{variable(ok)}, values: []tabled{{value: v, written: text(v)}, {value: zero, written: text(zero)}}}
}

// eitherNil is a value that may be nil; which, the program does not know.
// The objects come with it if it is not.
func eitherNil(id string, v Value, objects map[string]*Object) Tagged {
	return Tagged{id: "nil " + id, values: []tabled{{value: v, written: text(v), objects: objects}, {value: KNil{}, written: "nil"}}}
}

// unresolved finds a value among the operands of an instruction of which it matters now which one
// it is.
func (d *Driver) unresolved(s *State, instr ssa.Instruction) (Tagged, bool) {
	switch i := instr.(type) {
	case *ssa.Extract, *ssa.DebugRef, *ssa.Return, *ssa.Phi, *ssa.ChangeType, *ssa.ChangeInterface:
		return Tagged{}, false
	case *ssa.Store:
		if p, ok := s.top().regs[i.Addr].(Ptr); ok && !s.escaped[p.object] {
			switch i.Val.Type().Underlying().(type) {
			case *types.Struct, *types.Array:
			default:
				return Tagged{}, false
			}
		}
	}
	regs := s.top().regs
	for _, operand := range instr.Operands(nil) {
		if v, ok := regs[*operand]; ok {
			if t, found := tagIn(v, 4); found {
				return t, true
			}
		}
	}
	return Tagged{}, false
}

func tagIn(v Value, depth int) (Tagged, bool) {
	if t, ok := v.(Tagged); ok {
		return t, true
	}
	if depth == 0 {
		return Tagged{}, false
	}
	for _, child := range children(v) {
		if t, ok := tagIn(child, depth-1); ok {
			return t, true
		}
	}
	return Tagged{}, false
}

// split goes on with each of the values that one may be.
func (d *Driver) split(s *State, t Tagged) bool {
	pos := blockPos(s.top().block)
	if len(t.conditions) == 0 {
		var arms []*Code
		for i := range t.values {
			arms = append(arms, d.fork(s, func(u *State) { d.resolveTag(u, t.id, i) }))
		}
		d.put(&Code{op: opChoose, pos: pos, arms: arms, lossy: true})
		return true
	}
	var rest *Code
	for i := len(t.values) - 1; i >= 0; i-- {
		arm := d.fork(s, func(u *State) { d.resolveTag(u, t.id, i) })
		if rest == nil {
			rest = arm
			continue
		}
		rest = &Code{op: opIf, on: t.conditions[i], pos: pos, arms: []*Code{arm, rest}}
	}
	d.put(rest)
	return true
}

// resolveTag replaces a value by the one that it is, wherever the state has it.
func (d *Driver) resolveTag(s *State, id string, choice int) {
	var chosen Value
	var replace func(v Value) (Value, bool)
	replace = func(v Value) (Value, bool) {
		if t, ok := v.(Tagged); ok {
			if t.id == id && choice < len(t.values) {
				if chosen == nil {
					// All that hold it hold the same one.
					chosen = d.adopt(s, t.values[choice])
				}
				return chosen, true
			}
			return v, false
		}
		if out, changed := replaceAll(children(v), replace); changed {
			return rebuild(v, out), true
		}
		return v, false
	}
	s.replaceEverywhere(replace)
}

// replaceEverywhere applies a change to every value of a state.
func (s *State) replaceEverywhere(replace func(Value) (Value, bool)) {
	s.replaceIn(replace, func(*Object) bool { return true })
}

// replaceIn applies a change to the values of all calls in progress, and to those of some objects.
func (s *State) replaceIn(replace func(Value) (Value, bool), concerns func(*Object) bool) {
	for i := range s.frames {
		for r, v := range s.frames[i].regs {
			if now, changed := replace(v); changed {
				s.own(i).regs[r] = now
			}
		}
		for j := range s.frames[i].defers {
			if args, changed := replaceAll(s.frames[i].defers[j].args, replace); changed {
				s.own(i).defers[j].args = args
			}
		}
		for j := range s.frames[i].after {
			if args, changed := replaceAll(s.frames[i].after[j].args, replace); changed {
				s.own(i).after[j].args = args
			}
		}
		if now, changed := replace(s.frames[i].results); changed {
			s.own(i).results = now
		}
		if now, changed := replace(s.frames[i].panic); changed {
			s.own(i).panic = now
		}
	}
	for _, name := range sortedKeys(s.heap) {
		o := s.heap[name]
		if !concerns(o) {
			continue
		}
		if now, changed := replace(o.value); changed {
			copied := *o
			copied.value = now
			s.heap[name] = &copied
		}
		for key, v := range o.entries {
			if now, changed := replace(v); changed {
				copied := *s.heap[name]
				copied.entries = map[string]Value{}
				for k, w := range s.heap[name].entries {
					copied.entries[k] = w
				}
				copied.entries[key] = now
				s.heap[name] = &copied
			}
		}
	}
}

func (t Tagged) String() string {
	all := make([]string, len(t.values))
	for i, row := range t.values {
		all[i] = row.written
	}
	return fmt.Sprintf("tagged %s[%s]", t.id, strings.Join(all, "|"))
}

// uses tells whether a value depends on a variable of the program.
func (t Tagged) uses(name string) bool {
	used := t.id == "nil "+name || strings.HasPrefix(t.id, "nil "+name+"/")
	for _, condition := range t.conditions {
		condition.each(func(n string) { used = used || n == name })
	}
	for _, row := range t.values {
		used = used || computesFrom(row.value, name)
	}
	return used
}

// computesFrom tells whether a number in a value depends on a variable of the program.
func computesFrom(v Value, name string) bool {
	if dyn, ok := v.(Dyn); ok {
		used := false
		dyn.expr.each(func(n string) { used = used || n == name })
		return used
	}
	for _, child := range children(v) {
		if computesFrom(child, name) {
			return true
		}
	}
	return false
}
