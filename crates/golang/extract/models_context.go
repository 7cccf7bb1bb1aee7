package main

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A context is the channel that its Done returns, followed by the keys and values it holds. The
// channel's object knows the channels of its ancestors, whether time may end it, and where its cause
// is kept.

// contextModels: functions of package context.
func (d *Driver) contextModels(m *modelled) (bool, bool) {
	if !strings.HasPrefix(m.name, "context.") {
		return false, false
	}
	switch m.name {
	case "context.Background", "context.TODO":
		m.finish(Model{"context", []Value{KNil{}}})
	case "context.WithoutCancel":
		if parent, ok := m.arg(0).(Model); ok {
			m.finish(Model{"context", append([]Value{KNil{}}, valuesOf(parent)...)})
			break
		}
		return false, false
	case "context.WithValue":
		m.finish(withValue(m.arg(0), m.arg(1), m.arg(2)))
	case "context.WithCancel", "context.WithCancelCause":
		d.operation(m.pos)
		child, cancel := d.derive(m, m.arg(0), false)
		if m.name == "context.WithCancelCause" {
			d.keepCause(m, child)
		}
		m.finish(Tup{[]Value{child, cancel}})
	case "context.WithTimeout", "context.WithDeadline", "context.WithTimeoutCause", "context.WithDeadlineCause":
		d.operation(m.pos)
		child, cancel := d.derive(m, m.arg(0), true)
		done := child.(Model).args[0].(Ref)
		copied := *m.s.heap[done.object]
		copied.deadline = true
		if strings.HasSuffix(m.name, "Cause") {
			copied.late = m.arg(2)
		}
		m.s.heap[done.object] = &copied
		if wait, ok := m.arg(1).(KInt); ok && wait <= 0 && strings.HasPrefix(m.name, "context.WithTimeout") {
			// Its time is over before it begins.
			d.expire(m.s, doneCase{of: done.object, expires: true})
		}
		m.finish(Tup{[]Value{child, cancel}})
	case "context.Cause":
		return true, d.contextErr(m.s, m.site, m.arg(0), true, m.pos, m.finish)
	default:
		return false, false
	}
	return true, false
}

// sentinel is an error variable of a package that is not read: it is set once.
func (d *Driver) sentinel(path, name string) Value {
	if path == "os" && strings.HasPrefix(name, "Err") && name != "ErrDeadlineExceeded" && name != "ErrProcessDone" && name != "ErrNoDeadline" {
		path = "io/fs"
	}
	if path == "context" && name == "DeadlineExceeded" {
		if t := d.world.typeOf("context", "deadlineExceededError"); t != nil {
			return Ifc{t, Agg{}}
		}
	}
	return Ifc{d.world.errorString(), KStr(path + "." + name)}
}

// derive makes a context below another one.
func (d *Driver) derive(m *modelled, parent Value, timed bool) (Value, Value) {
	done := d.newChannel(m.s, "done", "done "+m.key(), 0, types.NewStruct(nil, nil), m.pos).(Ref)
	d.nameContext(m, done.object)
	d.closes(m.s.heap[done.object])
	cell := d.flag(m.s, "ended_"+done.object, "ended "+m.key())
	copied := *m.s.heap[done.object]
	copied.ended = cell
	if timed {
		copied.expired = d.flag(m.s, "expired_"+done.object, "expired "+m.key())
	}
	switch p := parent.(type) {
	case Model:
		if len(p.args) == 0 {
			break
		}
		if r, ok := p.args[0].(Ref); ok {
			copied.ancestors = append(copied.ancestors, r)
			if o := m.s.heap[r.object]; o != nil {
				copied.ancestors = append(copied.ancestors, o.ancestors...)
				copied.foreign = o.foreign
			}
		} else if !isNil(p.args[0]) {
			copied.foreign = true
		}
	case Sym:
		copied.foreign = true
	case KNil:
	default:
		d.assume(m.pos, "either", aboutUnknownContext)
		copied.foreign = true
	}
	copied.timed = timed
	m.s.heap[done.object] = &copied
	return Model{"context", append([]Value{done}, valuesOf(parent)...)}, Model{"cancel", []Value{done, Ref{cell}}}
}

// hasDeadline tells whether a context has a deadline, if that is known.
func (s *State) hasDeadline(context Model) (timed, known bool) {
	if len(context.args) == 0 || isNil(context.args[0]) {
		return false, len(context.args) > 0
	}
	r, ok := context.args[0].(Ref)
	if !ok || s.heap[r.object] == nil || s.heap[r.object].ended == "" {
		return false, false
	}
	o := s.heap[r.object]
	timed, known = o.deadline, !o.foreign
	for _, ancestor := range o.ancestors {
		above, ok := ancestor.(Ref)
		if !ok || s.heap[above.object] == nil {
			return false, false
		}
		timed = timed || s.heap[above.object].deadline
	}
	return timed, known || timed
}

// flag is a cell that begins as false.
func (d *Driver) flag(s *State, hint, place string) string {
	cell := d.fresh(s, hint, place)
	messages := d.messages(place)
	messages.join(d, s, KBool(false), types.Typ[types.Bool])
	messages.join(d, s, KBool(true), types.Typ[types.Bool])
	s.heap[cell] = &Object{kind: "cell", key: place, typ: types.Typ[types.Bool], multi: true}
	s.escaped[cell] = true
	d.kinds[cell], d.keys[cell] = "chan", place
	d.put(&Code{op: opCellNew, name: cell, expr: &Expr{op: "bool"}})
	return cell
}

// keepCause makes room for the cause of a context's end.
func (d *Driver) keepCause(m *modelled, context Value) {
	done := context.(Model).args[0].(Ref)
	place := d.newObject(m.s, "cause", "cause "+m.key(), errorType, token.NoPos).(Ptr)
	copied := *m.s.heap[done.object]
	copied.cause = place.object
	m.s.heap[done.object] = &copied
}

// withValue is a context with one more value: keys and values follow the channel.
func withValue(parent, key, value Value) Value {
	if model, ok := parent.(Model); ok {
		return Model{"context", append(append([]Value(nil), model.args...), key, value)}
	}
	return parent
}

// valuesOf are the keys and values that a context below another one inherits.
func valuesOf(parent Value) []Value {
	if model, ok := parent.(Model); ok && len(model.args) > 0 {
		return model.args[1:]
	}
	return nil
}

// contextValue looks a key up; the last one wins.
func contextValue(model Model, key Value) (Value, bool) {
	for i := len(model.args) - 2; i > 0; i -= 2 {
		if strings.Contains(text(model.args[i])+text(key), "«") {
			return nil, false
		}
		if equal(model.args[i], key) {
			return model.args[i+1], true
		}
	}
	return KNil{}, !strings.Contains(text(key), "«")
}

// doneCase is one of the ways in which a context may have ended.
type doneCase struct {
	code    *Code
	of      string // the channel of the context that has ended
	expires bool   // by time
}

// doneCases are the cases of a select that together mean a context's Done.
func (d *Driver) doneCases(s *State, channel Value, pos token.Pos) []doneCase {
	var cases []doneCase
	foreign := false
	add := func(v Value) {
		from := d.endOf(s, v)
		if from.unknown || from.timer || from.object == nil {
			foreign = true
			return
		}
		cases = append(cases, doneCase{code: &Code{op: opGet, on: from.expr, pos: pos}, of: from.expr.name})
		if from.object.timed {
			cases = append(cases, doneCase{code: &Code{op: opTimeout, pos: pos}, of: from.expr.name, expires: true})
		}
		foreign = foreign || from.object.foreign
	}
	add(channel)
	if r, ok := channel.(Ref); ok && s.heap[r.object] != nil {
		for _, ancestor := range s.heap[r.object].ancestors {
			add(ancestor)
		}
	}
	if foreign {
		cases = append(cases, doneCase{code: &Code{op: opTimeout, pos: pos}, expires: true})
	}
	return cases
}

// isDone tells channels that stand for the end of a context in several ways.
func isDone(o *Object) bool {
	return o != nil && (len(o.ancestors) > 0 || o.timed || o.foreign)
}

// expire ends a context by time: the goroutine that notices it first does it for all.
func (d *Driver) expire(s *State, c doneCase) {
	o := s.heap[c.of]
	if !c.expires || o == nil || o.ended == "" {
		return
	}
	expired := &Expr{op: "unit"}
	if o.expired != "" {
		expired = variable(o.expired)
	}
	d.put(&Code{op: opCloseOnce, on: variable(c.of), expr: variable(o.ended), test: s.unlessEnded(o, expired)})
}

// unlessEnded is what the end of a context depends on and sets: it ends by itself only if no ancestor
// has ended before, and then a cell may say that time has ended it.
func (s *State) unlessEnded(o *Object, expired *Expr) *Expr {
	ancestors := &Expr{op: "unit"}
	for _, ancestor := range slices.Backward(o.ancestors) {
		r, ok := ancestor.(Ref)
		if ok && s.heap[r.object] != nil && s.heap[r.object].ended != "" {
			ancestors = &Expr{op: "and", args: []*Expr{variable(s.heap[r.object].ended), ancestors}}
		}
	}
	return &Expr{op: "ends", args: []*Expr{expired, ancestors}}
}

// firstEnded finds which context of a chain has ended first, from the innermost on: one of them has, and
// a context ends by itself only before its ancestors do.
func (d *Driver) firstEnded(s *State, chain []string, key string, found func(*State, string)) {
	o := s.heap[chain[0]]
	if len(chain) == 1 || o == nil || o.ended == "" {
		found(s, chain[0])
		return
	}
	name := d.scalarName(s, "ended", key+" "+chain[0])
	d.kinds[name] = "bool"
	d.put(&Code{op: opCellRead, name: name, on: variable(o.ended)})
	here := d.fork(s, func(t *State) { found(t, chain[0]) })
	above := d.fork(s, func(t *State) { d.firstEnded(t, chain[1:], key, found) })
	d.put(&Code{op: opIf, on: variable(name), arms: []*Code{here, above}})
	s.frames = s.frames[:0]
}

// reason is the error of a context that has ended by itself, or its cause.
func (d *Driver) reason(s *State, of string, cause bool, key string, pos token.Pos) Value {
	canceled, late := d.sentinel("context", "Canceled"), d.sentinel("context", "DeadlineExceeded")
	o := s.heap[of]
	if o == nil || o.ended == "" {
		return d.unknown(s, key, nil, nil)
	}
	if cause && o.late != nil && !isNil(o.late) {
		late = o.late
	}
	if cause && o.cause != "" {
		place := s.heap[o.cause]
		if place == nil {
			return d.unknown(s, key, nil, nil)
		}
		d.note(s, o.cause, "", place.value, false)
		return d.readCells(s, place.value, errorType, key, pos)
	}
	if o.expired != "" {
		name := d.scalarName(s, "late", key)
		d.kinds[name] = "bool"
		d.put(&Code{op: opCellRead, name: name, on: variable(o.expired)})
		return Tagged{id: name, conditions: []*Expr{variable(name)}, values: []tabled{{value: late, written: text(late)}, {value: canceled, written: text(canceled)}}}
	}
	return canceled
}

// ended lists the contexts of which one has ended if a case happens.
func ended(cases []doneCase, happens doneCase) []string {
	var chain []string
	for _, c := range cases {
		if !slices.Contains(chain, c.of) {
			chain = append(chain, c.of)
		}
	}
	if happens.of == "" {
		return []string{""}
	}
	if !happens.expires {
		chain = chain[:slices.Index(chain, happens.of)+1]
	}
	return chain
}

// contextErr is nil as long as the context has not ended.
func (d *Driver) contextErr(s *State, site ssa.Instruction, context Value, cause bool, pos token.Pos, finish func(Value)) bool {
	model, ok := context.(Model)
	if !ok || len(model.args) == 0 {
		finish(d.unknownFrom(s, here(s.top()), site, nil, fromOutside(text(context))))
		return false
	}
	if isNil(model.args[0]) {
		finish(KNil{})
		return false
	}
	reg, isCall := site.(*ssa.Call)
	if _, isRef := model.args[0].(Ref); !isRef || !isCall {
		finish(d.unknown(s, here(s.top()), site, nil))
		return false
	}
	var arms []*Code
	key := here(s.top()) + "reason " + reg.Name()
	found := func(t *State, of string) { t.top().regs[reg] = d.reason(t, of, cause, key, pos) }
	cases := d.doneCases(s, model.args[0], pos)
	for _, c := range cases {
		c.code.next = d.fork(s, func(t *State) {
			d.expire(t, c)
			d.firstEnded(t, ended(cases, c), key, found)
		})
		arms = append(arms, c.code)
	}
	otherwise := &Code{op: opDefault, pos: pos}
	otherwise.next = d.fork(s, func(t *State) { t.top().regs[reg] = KNil{} })
	// No goroutine sends on a context's channel: to look at it changes nothing.
	d.put(&Code{op: opSelect, arms: append(arms, otherwise), pos: pos, note: "look"})
	return true
}

// cancelWith is the function that WithCancel or WithCancelCause returns.
func (d *Driver) cancelWith(s *State, model Model, args []Value, pos token.Pos) bool {
	done, ok := model.args[0].(Ref)
	var o *Object
	if ok {
		o = s.heap[done.object]
	}
	if o == nil || o.cause == "" || len(args) == 0 {
		d.cancel(s, model, pos)
		return false
	}
	cause := args[0]
	if isNil(cause) {
		cause = d.sentinel("context", "Canceled")
	}
	name := d.scalarName(s, "before", here(s.top())+"cancel "+done.object)
	d.kinds[name] = "bool"
	d.put(&Code{op: opCellRead, name: name, on: variable(o.ended)})
	again := d.fork(s, func(*State) {})
	first := d.fork(s, func(t *State) {
		d.store(t, Ptr{o.cause, ""}, cause, pos)
		d.cancel(t, model, pos)
	})
	d.put(&Code{op: opIf, on: variable(name), pos: pos, arms: []*Code{again, first}})
	return true
}

func (d *Driver) cancel(s *State, model Model, pos token.Pos) {
	done, ok1 := model.args[0].(Ref)
	cell, ok2 := model.args[1].(Ref)
	if !ok1 || !ok2 {
		d.assume(pos, "either", aboutUnknownContext)
		return
	}
	c := &Code{op: opCloseOnce, on: variable(done.object), expr: variable(cell.object), pos: pos}
	if o := s.heap[done.object]; o != nil {
		c.test = s.unlessEnded(o, &Expr{op: "unit"})
	}
	d.put(c)
}
