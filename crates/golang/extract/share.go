package main

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// escape notes that other goroutines may see what a value refers to. Parts of memory that are
// written afterwards become cells: one-place channels of the program.
func (d *Driver) escape(s *State, v Value) {
	seen := map[string]bool{}
	var names []string
	s.reach(v, seen, func(name string) {
		if !s.escaped[name] {
			names = append(names, name)
		}
	})
	for _, name := range names {
		s.escaped[name] = true
	}
	// What is pointed to comes first: cells of what points to it know it as it is then.
	for _, name := range slices.Backward(names) {
		o := s.heap[name]
		if o != nil && o.kind == "map" && d.facts.strayed[wholeClass(o.typ)] {
			d.facts.shared[name+"/map"] = true
			d.abstract(name + "/map")
			d.blurMap(s, name)
		} else if o != nil && o.kind == "map" {
			d.shareMap(s, name)
		}
		if o == nil || o.kind != "memory" {
			s.uncounted(name)
			continue
		}
		value := d.cells(s, name, "", o.value, o.typ, d.facts.shared[name])
		copied := *s.heap[name]
		copied.value = value
		s.heap[name] = &copied
	}
}

// Access is who uses a part of memory that several goroutines can see.
type Access struct {
	roots   map[string]bool
	written bool
}

// note remembers an access. What is written, and used by more than the first goroutine, is shared.
func (d *Driver) note(s *State, object, path string, v Value, writes bool) {
	if agg, ok := v.(Agg); ok {
		for i, e := range agg.elems {
			d.note(s, object, sub(path, i), e, writes)
		}
		return
	}
	if _, ok := v.(Any); ok || !s.escaped[object] || isLock(s, v) {
		return
	}
	place := object + path
	access := d.facts.access[place]
	if access == nil {
		access = &Access{roots: map[string]bool{}}
		d.facts.access[place] = access
	}
	access.roots[s.root] = true
	access.written = access.written || writes
	if access.written && (len(access.roots) > 1 || !access.roots["main"] || d.facts.met[object]) && !d.facts.shared[place] {
		d.facts.shared[place] = true
		d.changed = true
	}
}

// double notes that a receiver knows an object by a copy of its own: what is written to either is
// not seen in the other.
func (d *Driver) double(t types.Type) {
	if t == nil {
		return
	}
	if name := typeName(t); !d.facts.doubled[name] {
		d.facts.doubled[name] = true
		d.changed = true
	}
}

// tear notes that a part of an object which others know by copies is written.
func (d *Driver) tear(s *State, object, path string) {
	o := s.heap[object]
	if o == nil || o.typ == nil || !s.escaped[object] || !d.facts.doubled[typeName(o.typ)] {
		return
	}
	place := typeName(o.typ) + path
	if !d.facts.torn[place] {
		d.facts.torn[place] = true
		d.changed = true
	}
}

// mended is what is read from an object: parts that may have been written to a copy are not known.
func (d *Driver) mended(s *State, object, path string, v Value, t types.Type, key string) Value {
	o := s.heap[object]
	if o == nil || o.typ == nil || !s.escaped[object] || !d.facts.doubled[typeName(o.typ)] {
		return v
	}
	return d.mend(s, typeName(o.typ)+path, v, t, key)
}

func (d *Driver) mend(s *State, place string, v Value, t types.Type, key string) Value {
	if agg, ok := v.(Agg); ok {
		elems := make([]Value, len(agg.elems))
		for i, e := range agg.elems {
			elems[i] = d.mend(s, sub(place, i), e, partType(t, i), fmt.Sprintf("%s.%d", key, i))
		}
		return Agg{elems}
	}
	if d.facts.torn[place] && !isLock(s, v) {
		return d.unknown(s, key+" torn", nil, t)
	}
	return v
}

// cells replaces the parts that goroutines share and change.
func (d *Driver) cells(s *State, object, path string, v Value, t types.Type, marked bool) Value {
	if agg, ok := v.(Agg); ok {
		if !marked && t != nil && d.facts.strayed[wholeClass(t)] {
			marked = true
			d.abstractAll(object, path, v)
		}
		elems := make([]Value, len(agg.elems))
		for i, e := range agg.elems {
			inner := sub(path, i)
			elems[i] = d.cells(s, object, inner, e, partType(t, i), marked || d.facts.shared[object+inner])
		}
		return Agg{elems}
	}
	place := object + path
	if !isLock(s, v) && d.isStray(s, object, path, t) {
		marked = true
		d.abstract(place)
	}
	if !marked || isLock(s, v) {
		return v
	}
	if isBuffer(s.heap[object]) {
		d.abstract(place)
	}
	if d.facts.abstract[place] {
		return Any{}
	}
	messages := d.messages(place)
	messages.join(d, s, v, t)
	expr, ok := messages.encode(d, s, v)
	if !ok || messages.kind(d) == "unit" && !messages.usesTable() && strings.Contains(text(messages.shape), "?") {
		d.abstract(place)
		return Any{}
	}
	cell := d.fresh(s, "cell_"+strings.TrimPrefix(object, "o_")+strings.ReplaceAll(path, "/", "_"), "cell "+place)
	s.heap[cell] = &Object{kind: "cell", key: place, typ: t, multi: s.multiple(object)}
	s.escaped[cell] = true
	d.kinds[cell], d.keys[cell] = "chan", place
	d.put(&Code{op: opCellNew, name: cell, expr: expr})
	d.remembers(s, cell, v)
	return Ref{cell}
}

// wrote notes that a goroutine writes a cell.
func (d *Driver) wrote(s *State, cell string) {
	key := s.heap[cell].key
	writers := d.facts.writers[key]
	if writers == nil {
		writers = map[string]bool{}
		d.facts.writers[key] = writers
	}
	if !writers[s.root] {
		writers[s.root] = true
		d.changed = true
	}
}

// remembers keeps what a cell holds now. If no other goroutine writes it, it still holds that when it
// is read next. A loop without a known end would be in another state in every round.
func (d *Driver) remembers(s *State, cell string, v Value) {
	copied := *s.heap[cell]
	copied.value = nil
	if !copied.multi && isClosed(v) && !d.loopsOpenly(s) {
		copied.value = v
	}
	s.heap[cell] = &copied
}

// loopsOpenly tells whether a goroutine is in a loop whose end is not known.
func (d *Driver) loopsOpenly(s *State) bool {
	for _, f := range s.frames {
		if f.block != nil && len(f.decided) == 0 && d.loopsIn(f.fn).all[f.block] {
			return true
		}
	}
	return s.multi
}

// remembered is what a cell is known to hold: what this goroutine wrote last, or what the cell held
// when the goroutine started, if no other goroutine writes it.
func (d *Driver) remembered(s *State, cell string) (Value, bool) {
	o := s.heap[cell]
	writers := d.facts.writers[o.key]
	alone := len(writers) == 1 && writers[s.root] && !d.facts.many[s.root]
	return o.value, alone && o.value != nil
}

// abstract gives up following a part of memory.
func (d *Driver) abstract(place string) {
	if !d.facts.abstract[place] {
		d.facts.abstract[place] = true
		d.changed = true
	}
}

func (d *Driver) isRemembered(s *State, cell string) bool {
	_, ok := d.remembered(s, cell)
	return ok
}

func (d *Driver) readCell(s *State, cell, key string, pos token.Pos) Value {
	if v, ok := d.remembered(s, cell); ok {
		return v
	}
	o := s.heap[cell]
	messages := d.messages(o.key)
	name := d.scalarName(s, "x", key)
	v := messages.decode(d, s, name, key, o.typ)
	if usesVariable(s, v, name) || messages.kind(d) != "unit" && hasTag(v) {
		d.put(&Code{op: opCellRead, name: name, on: variable(cell), pos: pos})
	}
	return v
}

func (d *Driver) writeCell(s *State, cell string, v Value, pos token.Pos) {
	d.wrote(s, cell)
	d.remembers(s, cell, v)
	d.escape(s, v)
	o := s.heap[cell]
	messages := d.messages(o.key)
	messages.join(d, s, v, o.typ)
	expr, ok := messages.encode(d, s, v)
	if _, unknown := v.(Sym); unknown || !ok {
		if containsConcurrency(s, v) {
			d.assume(pos, "either", aboutLostStore)
		}
		d.abstract(o.key)
		return
	}
	d.put(&Code{op: opCellWrite, on: variable(cell), expr: expr, pos: pos})
}

// scalarName is the name of a variable for a message.
func (d *Driver) scalarName(s *State, hint, key string) string {
	full := "scalar " + key
	name, ok := d.names[full]
	if !ok {
		d.taken[hint]++
		name = fmt.Sprintf("%s_%d", identifier(hint), d.taken[hint])
		d.names[full] = name
	}
	// The object of this name may still be in use.
	name = d.free(s, name)
	d.rebind(s, name)
	return name
}

// rebind makes a variable mean something new: what still uses the old meaning becomes unknown.
func (d *Driver) rebind(s *State, name string) {
	for i := range s.frames {
		for r, v := range s.frames[i].regs {
			if now, changed := unbind(v, name); changed {
				s.own(i).regs[r] = now
			}
		}
		for j := range s.frames[i].defers {
			if args, changed := replaceAll(s.frames[i].defers[j].args, func(v Value) (Value, bool) { return unbind(v, name) }); changed {
				s.own(i).defers[j].args = args
			}
		}
		for j := range s.frames[i].after {
			if args, changed := replaceAll(s.frames[i].after[j].args, func(v Value) (Value, bool) { return unbind(v, name) }); changed {
				s.own(i).after[j].args = args
			}
		}
	}
	for object, o := range s.heap {
		if now, changed := unbind(o.value, name); changed {
			copied := *o
			copied.value = now
			s.heap[object] = &copied
		}
	}
}

func unbind(v Value, name string) (Value, bool) {
	if dyn, ok := v.(Dyn); ok {
		used := false
		dyn.expr.each(func(n string) { used = used || n == name })
		if used {
			return Sym{"«?»"}, true
		}
		return v, false
	}
	if t, ok := v.(Tagged); ok {
		if t.uses(name) {
			return Sym{"«?»"}, true
		}
		return v, false
	}
	if out, changed := replaceAll(children(v), func(v Value) (Value, bool) { return unbind(v, name) }); changed {
		return rebuild(v, out), true
	}
	return v, false
}

// usesVariable tells whether a decoded message depends on what is carried.
func usesVariable(s *State, v Value, name string) bool { return usesWithin(s, v, name, 8) }

// usesWithin does so for a value behind some pointers; there are no more of them in a message than
// the depth says.
func usesWithin(s *State, v Value, name string, depth int) bool {
	if dyn, ok := v.(Dyn); ok {
		used := false
		dyn.expr.each(func(n string) { used = used || n == name })
		return used
	}
	if t, ok := v.(Tagged); ok {
		return t.uses(name)
	}
	if r, ok := v.(Ref); ok {
		return r.object == name
	}
	if p, ok := v.(Ptr); ok {
		if o := s.heap[p.object]; o != nil && depth > 0 && (strings.HasPrefix(p.object, "msg_") || s.known.met[p.object]) {
			return usesWithin(s, o.value, name, depth-1)
		}
		return false
	}
	for _, child := range children(v) {
		if usesWithin(s, child, name, depth) {
			return true
		}
	}
	return false
}

func hasTag(v Value) bool {
	_, ok := v.(Tagged)
	return ok
}

func isLock(s *State, v Value) bool {
	r, ok := v.(Ref)
	if !ok {
		return false
	}
	o := s.heap[r.object]
	return o != nil && (o.kind == "mutex" || o.kind == "rwmutex" || o.kind == "waitgroup")
}

// containsConcurrency tells whether a channel or lock can be reached from a value.
func containsConcurrency(s *State, v Value) bool {
	found := false
	s.reach(v, map[string]bool{}, func(name string) {
		if o := s.heap[name]; o != nil {
			switch o.kind {
			case "chan", "mutex", "rwmutex", "waitgroup":
				found = true
			}
		}
	})
	return found
}
