package main

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// onceModels: Do holds a lock while the function runs.
func (d *Driver) onceModels(m *modelled) (bool, bool) {
	switch m.name {
	case "(*sync.Once).Do":
		d.operation(m.pos)
		m.finish(KNil{})
		return true, d.once(m, m.arg(0), m.arg(1), onceKeeps{})
	case "sync.OnceFunc":
		m.finish(Model{"oncefunc", d.newOnce(m)})
		return true, false
	case "sync.OnceValue", "sync.OnceValues":
		call, ok := m.site.(*ssa.Call)
		if !ok {
			return false, false
		}
		parts := d.newOnce(m)
		results := call.Type().Underlying().(*types.Signature).Results()
		for i := range results.Len() {
			key := fmt.Sprintf("%s result %d", m.key(), i)
			parts = append(parts, d.newObject(m.s, "result", key, results.At(i).Type(), token.NoPos))
		}
		m.finish(Model{"oncevalue", parts})
		return true, false
	}
	return false, false
}

// newOnce is what OnceFunc and its relatives begin with: the Once, the function, and the place that
// says whether the function has returned and what it panicked with otherwise.
func (d *Driver) newOnce(m *modelled) []Value {
	once := d.newObject(m.s, "once", m.key(), onceType(m.fn), m.pos)
	outcome := d.newObject(m.s, "outcome", m.key()+" outcome", outcomeType, token.NoPos)
	return []Value{once, m.arg(0), outcome}
}

// outcomeType is the type of the place that says how the function of a OnceFunc has ended.
var outcomeType = types.NewStruct([]*types.Var{
	types.NewField(token.NoPos, nil, "returned", types.Typ[types.Bool], false),
	types.NewField(token.NoPos, nil, "panicked", types.NewInterfaceType(nil, nil), false),
}, nil)

// onceType is the type sync.Once.
func onceType(fn *ssa.Function) types.Type {
	if member := fn.Pkg.Pkg.Scope().Lookup("Once"); member != nil {
		return member.Type()
	}
	return types.NewStruct(nil, nil)
}

// onceKeeps are the places where what came of the call is kept: how it ended, nil for a plain Once,
// and its results.
type onceKeeps struct {
	outcome Value
	results []Value
}

// callOnce calls the function that OnceFunc or one of its relatives returns.
func (d *Driver) callOnce(s *State, site ssa.Instruction, model Model, pos token.Pos, finish func(Value)) bool {
	keeps := onceKeeps{model.args[2], model.args[3:]}
	return d.once(&modelled{s: s, site: site, pos: pos, finish: finish}, model.args[0], model.args[1], keeps)
}

// once calls a function if no call was made yet.
func (d *Driver) once(m *modelled, pointer, f Value, keeps onceKeeps) bool {
	p, ok := pointer.(Ptr)
	lock, known := d.lockAt(m.s, Ptr{p.object, p.path + "/0"})
	if !ok || !known {
		d.assume(m.pos, "either", aboutUnknownOnce)
		m.finish(d.unknown(m.s, here(m.s.top()), m.site, nil))
		run := d.fork(m.s, func(t *State) { d.later(t, f, nil, m.pos) })
		skip := d.fork(m.s, func(t *State) {})
		d.put(&Code{op: opChoose, pos: m.pos, arms: []*Code{run, skip}, lossy: true})
		return true
	}
	d.sync(m.s, "lock", lock, m.pos)
	for _, f := range m.s.frames {
		for _, after := range f.after {
			if after.what == "once" && equal(after.args[1], Ref{lock.name}) {
				// The function asks its own Once: this lock is never had.
				d.put(&Code{op: opSelect, pos: m.pos})
				return true
			}
		}
	}
	flag := Ptr{p.object, p.path + "/1"}
	done := d.readPlace(m.s, flag, types.Typ[types.Bool], m.key()+"once", m.pos)
	first := func(t *State) {
		after := After{"once", append([]Value{flag, Ref{lock.name}, keeps.outcome}, keeps.results...), m.pos}
		d.later(t, f, []After{after}, m.pos)
		if len(keeps.results) > 0 && m.site != deferredSite {
			top := t.top()
			top.site, top.deferred = m.site, false
		}
	}
	again := func(t *State) bool {
		d.sync(t, "unlock", lock, m.pos)
		return d.calledBefore(t, m, keeps)
	}
	switch done := done.(type) {
	case KBool:
		if bool(done) {
			return again(m.s)
		}
		first(m.s)
		return false
	case Dyn:
		d.either(m.s, done, m.pos, again, func(t *State) bool { first(t); return false })
		return true
	}
	d.eitherWay(m.s, !fromOutside(text(done)), m.pos, again, func(t *State) bool { first(t); return false })
	return true
}

// calledBefore: the function has been called. What it returned is there; if it panicked, so does this
// call.
func (d *Driver) calledBefore(s *State, m *modelled, keeps onceKeeps) bool {
	returned := func(t *State) bool {
		if reg, isCall := m.site.(*ssa.Call); isCall && len(keeps.results) > 0 {
			t.top().regs[reg] = d.kept(t, keeps.results, reg.Type(), m.key(), m.pos)
		}
		return false
	}
	outcome, ok := keeps.outcome.(Ptr)
	if !ok {
		return returned(s)
	}
	panicked := func(t *State) bool {
		value := d.readPlace(t, Ptr{outcome.object, outcome.path + "/1"}, outcomeType.Field(1).Type(), m.key()+"panicked", m.pos)
		return d.panics(t, value, m.pos)
	}
	switch returns := d.readPlace(s, Ptr{outcome.object, outcome.path + "/0"}, types.Typ[types.Bool], m.key()+"returned", m.pos).(type) {
	case KBool:
		if bool(returns) {
			return returned(s)
		}
		return panicked(s)
	case Dyn:
		d.either(s, returns, m.pos, returned, panicked)
	default:
		d.eitherWay(s, true, m.pos, returned, panicked)
	}
	return true
}

// either goes on in one of two ways, by a condition that the program computes. A way tells whether
// its code has come to an end.
func (d *Driver) either(s *State, condition Dyn, pos token.Pos, then, otherwise func(*State) bool) {
	d.put(&Code{op: opIf, on: condition.expr, pos: pos, arms: d.ways(s, then, otherwise)})
}

// eitherWay goes on in both ways, because what decides is not known.
func (d *Driver) eitherWay(s *State, lossy bool, pos token.Pos, then, otherwise func(*State) bool) {
	d.put(&Code{op: opChoose, pos: pos, arms: d.ways(s, then, otherwise), lossy: lossy})
}

func (d *Driver) ways(s *State, all ...func(*State) bool) []*Code {
	var arms []*Code
	for _, way := range all {
		arms = append(arms, d.fork(s, func(t *State) {
			if way(t) {
				t.frames = t.frames[:0]
			}
		}))
	}
	return arms
}

// readPlace reads memory that a model keeps.
func (d *Driver) readPlace(s *State, place Ptr, t types.Type, key string, pos token.Pos) Value {
	o := s.heap[place.object]
	if o == nil {
		return d.unknown(s, key, nil, t)
	}
	part := partOf(o.value, place.path)
	d.note(s, place.object, place.path, part, false)
	return d.mended(s, place.object, place.path, d.readCells(s, part, t, key, pos), t, key)
}

// kept reads what a function returned when it was called once.
func (d *Driver) kept(s *State, results []Value, t types.Type, key string, pos token.Pos) Value {
	elems := make([]Value, len(results))
	for i, place := range results {
		part := t
		if tuple, ok := t.(*types.Tuple); ok {
			part = tuple.At(i).Type()
		}
		elems[i] = d.readPlace(s, place.(Ptr), part, fmt.Sprintf("%s kept %d", key, i), pos)
	}
	if len(elems) == 1 {
		return elems[0]
	}
	return Tup{elems}
}

// afterOnce: the function of a sync.Once has returned, or has ended in another way.
func (d *Driver) afterOnce(s *State, after After, result Value, returned bool) {
	if outcome, ok := after.args[2].(Ptr); ok {
		if returned {
			d.store(s, Ptr{outcome.object, outcome.path + "/0"}, KBool(true), after.pos)
		} else {
			d.store(s, Ptr{outcome.object, outcome.path + "/1"}, result, after.pos)
		}
	}
	for i, place := range after.args[3:] {
		part := result
		if all, ok := result.(Tup); ok {
			part = all.elems[i]
		}
		if returned {
			d.store(s, place, part, after.pos)
		}
	}
	d.store(s, after.args[0], KBool(true), after.pos)
	d.sync(s, "unlock", variable(after.args[1].(Ref).object), after.pos)
}
