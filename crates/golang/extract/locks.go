package main

import (
	"go/token"
	"go/types"
)

// What is known of a lock or channel that only one goroutine can see: how often it is locked, how
// much was added, how many messages are in the buffer. As soon as others can see it, the program
// alone knows.

// holdsLock tells whether values of a type hold locks or wait groups by value.
func holdsLock(t types.Type, depth int) bool {
	if t == nil || depth == 0 {
		return false
	}
	switch lockKind(t) {
	case "mutex", "rwmutex", "waitgroup", "once", "cond", "errgroup", "semaphore", "syncmap":
		return true
	case "atomic":
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			if holdsLock(u.Field(i).Type(), depth-1) {
				return true
			}
		}
	case *types.Array:
		return u.Len() > 0 && holdsLock(u.Elem(), depth-1)
	}
	return false
}

// count is what is known of an object that no other goroutine sees.
func (s *State) count(name string) (int64, bool) {
	o := s.heap[name]
	if o == nil || s.escaped[name] {
		return 0, false
	}
	n, ok := o.value.(KInt)
	return int64(n), ok
}

// counts notes what an operation does to an object that no other goroutine sees.
func (s *State) counts(name string, change int64) {
	n, ok := s.count(name)
	if !ok {
		return
	}
	copied := *s.heap[name]
	copied.value = KInt(n + change)
	s.heap[name] = &copied
}

// isOpen tells whether a channel is open; it is known only of one that no other goroutine sees.
func (s *State) isOpen(name string) (open, known bool) {
	if _, counted := s.count(name); !counted {
		return false, false
	}
	return !s.heap[name].shut, true
}

// shuts notes that a channel is closed.
func (s *State) shuts(name string) {
	if _, known := s.isOpen(name); known {
		copied := *s.heap[name]
		copied.shut = true
		s.heap[name] = &copied
	}
}

// uncounted: from now on others see it.
func (s *State) uncounted(name string) {
	if o := s.heap[name]; o != nil && o.value != nil {
		copied := *o
		copied.value, copied.shut = nil, false
		s.heap[name] = &copied
	}
}

// copied is a copy of a value that was read from memory: locks in it are new ones, in the state of
// the old ones.
func (d *Driver) copied(s *State, v Value, t types.Type, pos token.Pos) Value {
	if !holdsLock(t, deepestNesting) {
		return v
	}
	return d.copyLocks(s, v, t, pos)
}

func (d *Driver) copyLocks(s *State, v Value, t types.Type, pos token.Pos) Value {
	switch lockKind(t) {
	case "cond":
		return d.copyCond(s, v, pos)
	case "syncmap":
		d.assume(pos, "either", aboutCopiedLock)
		return v
	}
	switch v := v.(type) {
	case Ref:
		if isLock(s, v) {
			return d.copyLock(s, v, pos)
		}
	case Agg:
		elems := make([]Value, len(v.elems))
		for i, e := range v.elems {
			elems[i] = d.copyLocks(s, e, partType(t, i), pos)
		}
		return Agg{elems}
	}
	return v
}

// copyCond is a copy of a sync.Cond. One that is used anywhere panics when its copy is used.
func (d *Driver) copyCond(s *State, v Value, pos token.Pos) Value {
	before, ok := v.(Agg)
	if !ok || len(before.elems) != 3 {
		d.assume(pos, "either", aboutCopiedLock)
		return v
	}
	channel, ok := before.elems[0].(Ref)
	if !ok || d.facts.usedConds[channel.object] {
		d.assume(pos, "either", aboutCopiedLock)
		return v
	}
	copied := d.newCond(s, channel.object+"_copy", pos).(Agg)
	copied.elems[1] = before.elems[1]
	return copied
}

func (d *Driver) copyLock(s *State, of Ref, pos token.Pos) Value {
	o := s.heap[of.object]
	n, known := s.count(of.object)
	if !known {
		d.assume(pos, "either", aboutCopiedLock)
	}
	d.hintNames[of.object+"_copy"] = d.goNames[of.object].copied()
	made := d.newLock(s, of.object+"_copy", o.kind, token.NoPos).(Ref)
	on := variable(made.object)
	switch {
	case n == 0:
	case o.kind == "waitgroup":
		d.put(&Code{op: opAdd, on: on, expr: &Expr{op: "int", n: n}})
	case n < 0:
		d.put(&Code{op: opSync, note: "lock", on: on})
	case o.kind == "rwmutex":
		for range n {
			d.put(&Code{op: opSync, note: "rlock", on: on})
		}
	default:
		d.put(&Code{op: opSync, note: "lock", on: on})
	}
	s.counts(made.object, n)
	return made
}

// resets puts a lock back to the zero of its type.
func (d *Driver) resets(s *State, object, path string, before Ref, pos token.Pos) {
	n, known := s.count(before.object)
	if known && n == 0 {
		return
	}
	if !known {
		d.assume(pos, "either", aboutOverwrittenLock)
		return
	}
	d.hintNames[before.object+"_new"] = d.goNames[before.object].text
	made := d.newLock(s, before.object+"_new", s.heap[before.object].kind, token.NoPos)
	d.replacePart(s, object, path, made)
}

// replacePart puts a value into an object's content.
func (d *Driver) replacePart(s *State, object, path string, v Value) {
	o := s.heap[object]
	if value, ok := with(o.value, path, v); ok {
		copied := *o
		copied.value = value
		s.heap[object] = &copied
	}
}

// change is what an operation on a lock does to its count: a writer of a rwmutex counts as -1.
func change(kind, op string) int64 {
	switch op {
	case "lock":
		if kind == "rwmutex" {
			return -1
		}
		return 1
	case "unlock":
		if kind == "rwmutex" {
			return 1
		}
		return -1
	case "rlock":
		return 1
	case "runlock", "done":
		return -1
	}
	return 0
}

// sync writes an operation on a lock or wait group.
func (d *Driver) sync(s *State, op string, on *Expr, pos token.Pos) {
	d.put(&Code{op: opSync, note: op, on: on, pos: pos})
	if o := s.heap[on.name]; o != nil && on.op == "var" {
		s.counts(on.name, change(o.kind, op))
	}
}
