package main

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// compute is the value of an instruction that no other goroutine notices.
func (d *Driver) compute(s *State, v ssa.Value) Value {
	switch i := v.(type) {
	case *ssa.Alloc:
		return d.alloc(s, i)
	case *ssa.BinOp:
		return d.binary(s, i)
	case *ssa.ChangeInterface:
		return d.value(s, i.X)
	case *ssa.ChangeType:
		return d.value(s, i.X)
	case *ssa.Convert:
		return d.convert(s, i, i.X)
	case *ssa.MultiConvert:
		return d.convert(s, i, i.X)
	case *ssa.Extract:
		return d.extract(s, i)
	case *ssa.Field:
		x := d.value(s, i.X)
		if part, ok := at(x, sub("", i.Field)); ok {
			return part
		}
		if sym, ok := x.(Sym); ok {
			return d.unknownOf(fmt.Sprintf("%s.%d", sym.id, i.Field), i.Type(), 0)
		}
		return d.unknown(s, here(s.top()), i, i.Type())
	case *ssa.FieldAddr:
		if t, ok := d.value(s, i.X).(Model); ok && t.name == "testing" {
			return t
		}
		if p, ok := d.value(s, i.X).(Ptr); ok {
			return Ptr{p.object, sub(p.path, i.Field)}
		}
		if sym, ok := d.value(s, i.X).(Sym); ok {
			return Sym{fmt.Sprintf("%s->%d", sym.id, i.Field)}
		}
	case *ssa.Index:
		return d.index(s, i, i.X, i.Index)
	case *ssa.IndexAddr:
		return d.indexAddress(s, i)
	case *ssa.Lookup:
		return d.lookup(s, i)
	case *ssa.MakeChan:
		return d.makeChannel(s, i)
	case *ssa.MakeClosure:
		bind := make([]Value, len(i.Bindings))
		for k, b := range i.Bindings {
			bind[k] = d.value(s, b)
		}
		return Clo{i.Fn.(*ssa.Function), bind}
	case *ssa.MakeInterface:
		return Ifc{i.X.Type(), d.value(s, i.X)}
	case *ssa.MakeMap:
		name := d.fresh(s, "map", here(s.top())+fmt.Sprintf("%p", i))
		s.heap[name] = &Object{kind: "map", typ: i.Type(), multi: d.repeats(s), from: i.Pos()}
		return Ptr{name, ""}
	case *ssa.MakeSlice:
		return d.makeSlice(s, i)
	case *ssa.Range:
		return d.ranges(s, d.value(s, i.X))
	case *ssa.Slice:
		return d.slice(s, i)
	case *ssa.SliceToArrayPointer:
		array := i.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		switch slice := d.value(s, i.X).(type) {
		case Slc:
			return Ptr{slice.object, windowAt(slice.path, slice.low, int(array.Len()))}
		case KNil:
			if array.Len() == 0 {
				return KNil{}
			}
		}
	case *ssa.TypeAssert:
		return d.typeAssert(s, i)
	}
	return d.unknown(s, here(s.top()), v, v.Type())
}

// alloc makes an object of memory with the zero of its type.
func (d *Driver) alloc(s *State, i *ssa.Alloc) Value {
	hint := i.Comment
	if hint == "new" || hint == "complit" || hint == "" || hint == "slicelit" || hint == "varargs" || hint == "makeslice" {
		hint = baseName(i.Type())
	}
	return d.newObject(s, hint, here(s.top())+fmt.Sprintf("%p", i), i.Type().(*types.Pointer).Elem(), i.Pos())
}

func baseName(t types.Type) string {
	for {
		switch u := t.(type) {
		case *types.Pointer:
			t = u.Elem()
			continue
		case *types.Named:
			return u.Obj().Name()
		case *types.Alias:
			return u.Obj().Name()
		}
		return "v"
	}
}

func (d *Driver) newObject(s *State, hint, key string, t types.Type, pos token.Pos) Value {
	// Memory is no variable of the program: its names are apart.
	name := d.fresh(s, "o_"+hint, key)
	// The name is taken before the locks inside ask for theirs.
	object := &Object{kind: "memory", typ: t, multi: d.repeats(s)}
	s.heap[name] = object
	d.hintNames[strings.TrimPrefix(name, "o_")] = d.goNameOf(hint, t, pos)
	value := d.zero(s, t, strings.TrimPrefix(name, "o_"), pos, 0)
	s.heap[name] = &Object{kind: "memory", typ: t, value: value, multi: object.multi}
	return Ptr{name, ""}
}

// zero is the zero of a type; what goroutines meet at is made.
func (d *Driver) zero(s *State, t types.Type, hint string, pos token.Pos, depth int) Value {
	if depth > deepestNesting {
		return Sym{"«?»"}
	}
	switch lockKind(t) {
	case "mutex", "rwmutex", "waitgroup":
		return d.newLock(s, hint, lockKind(t), pos)
	case "once":
		d.nameInside(hint, hint+"_once", "")
		return Agg{[]Value{d.newLock(s, hint+"_once", "mutex", token.NoPos), KBool(false)}}
	case "errgroup":
		return d.newGroup(s, hint, pos)
	case "semaphore":
		return Agg{[]Value{KNil{}, KNil{}, KNil{}}}
	case "cond":
		return d.newCond(s, hint, pos)
	case "atomic":
		return Agg{[]Value{atomicZero(t)}}
	case "syncmap":
		return d.newSyncMap(s, hint)
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		elems := make([]Value, u.NumFields())
		for i := range elems {
			name := hint
			if holdsConcurrency(u.Field(i).Type()) {
				name = hint + "_" + u.Field(i).Name()
				d.nameInside(hint, name, "."+u.Field(i).Name())
			}
			elems[i] = d.zero(s, u.Field(i).Type(), name, pos, depth+1)
		}
		return Agg{elems}
	case *types.Array:
		if u.Len() > mostElements(u.Elem()) {
			if holdsConcurrency(u.Elem()) {
				d.assume(pos, "either", aboutUnknownElement)
			}
			return Sym{"«?»"}
		}
		elems := make([]Value, u.Len())
		named := holdsConcurrency(u.Elem())
		for i := range elems {
			name := fmt.Sprintf("%s_%d", hint, i)
			if named {
				d.nameInside(hint, name, fmt.Sprintf("[%d]", i))
			}
			elems[i] = d.zero(s, u.Elem(), name, pos, depth+1)
		}
		return Agg{elems}
	}
	return zeroPlain(t)
}

// newCond is a sync.Cond: a channel on which waiters are woken, the lock (where Go has it), and how
// many wait.
func (d *Driver) newCond(s *State, hint string, pos token.Pos) Value {
	channel := d.newChannel(s, hint+"_wake", "cond "+hint, 0, types.NewStruct(nil, nil), pos)
	d.nameObject(s, channel.(Ref).object, d.hintNames[hint], pos)
	place := "waiters " + hint
	cell := d.fresh(s, "waiters_"+hint, place)
	messages := d.messages(place)
	messages.join(d, s, KInt(0), types.Typ[types.Int])
	messages.join(d, s, KInt(1), types.Typ[types.Int])
	s.heap[cell] = &Object{kind: "cell", key: place, typ: types.Typ[types.Int], multi: true}
	s.escaped[cell] = true
	d.kinds[cell], d.keys[cell] = "chan", place
	d.put(&Code{op: opCellNew, name: cell, expr: &Expr{op: "int"}})
	return Agg{[]Value{channel, KNil{}, Ref{cell}}}
}

func (d *Driver) newLock(s *State, hint, kind string, pos token.Pos) Value {
	name := d.fresh(s, hint, "lock "+hint)
	s.heap[name] = &Object{kind: kind, multi: d.repeats(s), from: pos, value: KInt(0)}
	d.kinds[name] = kind
	d.nameObject(s, name, d.hintNames[hint], pos)
	d.put(&Code{op: opLockNew, name: name, note: kind, pos: pos})
	return Ref{name}
}

// largestCapacity is what a bounded channel of the language holds at most.
const largestCapacity = 1_000_000

// makeChannel makes a channel.
func (d *Driver) makeChannel(s *State, i *ssa.MakeChan) Value {
	d.operation(i.Pos())
	capacity := int64(0)
	switch size := d.value(s, i.Size).(type) {
	case KInt:
		capacity = int64(size)
	default:
		capacity = 1
		d.assume(i.Pos(), "either", aboutUnknownCapacity)
	}
	if capacity > largestCapacity {
		d.assume(i.Pos(), "either", aboutLargeCapacity)
		capacity = largestCapacity
	}
	hint := d.world.nameAt(i)
	element := i.Type().Underlying().(*types.Chan).Elem()
	channel := d.newChannel(s, hint, here(s.top())+fmt.Sprintf("%p", i), capacity, element, i.Pos())
	d.nameObject(s, channel.(Ref).object, d.world.goName(i.Pos(), 0), i.Pos())
	return channel
}

func (d *Driver) newChannel(s *State, hint, key string, capacity int64, element types.Type, pos token.Pos) Value {
	name := d.fresh(s, hint, key)
	s.heap[name] = &Object{kind: "chan", key: d.names[key], typ: element, multi: d.repeats(s), from: pos, room: int(capacity), value: KInt(0)}
	d.kinds[name] = "chan"
	d.keys[name] = d.names[key]
	d.put(&Code{op: opChan, name: name, n: capacity, pos: pos})
	return Ref{name}
}

// global is the address of a package variable.
func (d *Driver) global(s *State, g *ssa.Global) Value {
	key := fmt.Sprintf("global %p", g)
	name, ok := d.names[key]
	if !ok {
		d.taken["g_"+g.Name()]++
		name = fmt.Sprintf("g_%s_%d", identifier(g.Name()), d.taken["g_"+g.Name()])
		d.names[key] = name
	}
	if !d.usesGlobal[name] {
		d.usesGlobal[name] = true
		d.changed = true
	}
	if !d.needed[g] && d.world.isRoot(g.Pkg) {
		// What initialises it was left out: the next run has it.
		d.facts.missed[g] = true
		d.changed = true
	}
	if d.world.isLinked(g) {
		d.assume(g.Pos(), "either", aboutLinkedVariable, g.Name())
	}
	if s.heap[name] == nil {
		t := g.Type().(*types.Pointer).Elem()
		if !d.world.isRoot(g.Pkg) {
			value := d.fromEnvironment(s, "global", g, t)
			if g.Pkg.Pkg.Path() != "os" {
				eachUnknown(text(value), func(token string) bool { d.declared[token] = true; return true })
			}
			if types.Identical(t, errorType) {
				value = d.sentinel(g.Pkg.Pkg.Path(), g.Name())
			} else if _, isFunction := t.Underlying().(*types.Signature); isFunction && isQuietPackage(g.Pkg.Pkg.Path()) {
				value = Model{"quiet", nil}
			}
			s.heap[name] = &Object{kind: "memory", typ: t, value: value}
		} else if len(s.frames) > 1 && strings.HasPrefix(s.frames[len(s.frames)-1].fn.Name(), "init") || s.root == "main" && !s.escaped["*"] {
			d.hintNames[strings.TrimPrefix(name, "g_")] = qualified(g.Pkg.Pkg, d.home, g.Name())
			s.heap[name] = &Object{kind: "memory", typ: t}
			s.heap[name] = &Object{kind: "memory", typ: t, value: d.zero(s, t, strings.TrimPrefix(name, "g_"), g.Pos(), 0)}
		} else {
			if holdsConcurrency(t) {
				// The goroutine that initialises the package makes it; here it is the next run.
				d.assume(g.Pos(), "either", aboutLateGlobal, g.Name())
			}
			s.heap[name] = &Object{kind: "memory", typ: t, value: d.unknown(s, "global", g, t)}
		}
	}
	return Ptr{name, ""}
}

// load reads memory.
func (d *Driver) load(s *State, address Value, t types.Type, site ssa.Value) Value {
	p, ok := address.(Ptr)
	if !ok {
		// Memory behind an unknown pointer is not followed, and two reads may differ.
		return d.unknownFrom(s, here(s.top()), site, t, fromOutside(text(address)))
	}
	o := s.heap[p.object]
	if o == nil || o.kind != "memory" {
		return d.unknown(s, here(s.top()), site, t)
	}
	v, ok := at(o.value, p.path)
	if !ok {
		return d.unknown(s, here(s.top()), site, t)
	}
	if s.escaped[p.object] {
		d.note(s, p.object, p.path, v, false)
	}
	key := here(s.top()) + fmt.Sprintf("%p", site)
	read := d.mended(s, p.object, p.path, d.readCells(s, v, t, key, site.Pos()), t, key)
	return d.copied(s, read, t, site.Pos())
}

// readCells reads what goroutines share inside a value.
func (d *Driver) readCells(s *State, v Value, t types.Type, key string, pos token.Pos) Value {
	switch v := v.(type) {
	case Any:
		unknown := d.unknown(s, key, nil, t)
		eachUnknown(text(unknown), func(token string) bool { d.fromShared[token] = true; return true })
		return unknown
	case Ref:
		if o := s.heap[v.object]; o != nil && o.kind == "cell" {
			return d.readCell(s, v.object, key, pos)
		}
	case Agg:
		elems := make([]Value, len(v.elems))
		for i, e := range v.elems {
			elems[i] = d.readCells(s, e, partType(t, i), fmt.Sprintf("%s.%d", key, i), pos)
		}
		return Agg{elems}
	}
	return v
}

func partType(t types.Type, i int) types.Type {
	if t == nil {
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if i < u.NumFields() {
			return u.Field(i).Type()
		}
	case *types.Array:
		return u.Elem()
	}
	return nil
}

// fieldOf is a field of a struct.
func fieldOf(t types.Type, i int) *types.Var {
	if t == nil {
		return nil
	}
	if fields, ok := t.Underlying().(*types.Struct); ok && i < fields.NumFields() {
		return fields.Field(i)
	}
	return nil
}

// store writes memory.
func (d *Driver) store(s *State, address, v Value, pos token.Pos) {
	p, ok := address.(Ptr)
	if !ok {
		d.storeSomewhere(s, address, v, nil, pos)
		return
	}
	o := s.heap[p.object]
	if o == nil || o.kind != "memory" {
		return
	}
	if o.raw {
		v = withoutPlain(v)
	}
	old, ok := at(o.value, p.path)
	if !ok {
		if containsConcurrency(s, v) {
			d.assume(pos, "either", aboutLostStore)
		}
		d.escape(s, v)
		d.disturbObject(s, p.object)
		return
	}
	d.storeAt(s, p.object, p.path, old, v, pos)
}

// storeSomewhere writes through a pointer that is not known: whatever it may point to is not known
// afterwards.
func (d *Driver) storeSomewhere(s *State, address, v Value, t types.Type, pos token.Pos) {
	if containsConcurrency(s, v) {
		d.assume(pos, "either", aboutLostStore)
	}
	d.escape(s, v)
	if t != nil && aliasable(address) {
		d.havocHere(s, t)
	}
}

func (d *Driver) storeAt(s *State, object, path string, old, v Value, pos token.Pos) {
	switch before := old.(type) {
	case Any:
		if containsConcurrency(s, v) {
			d.assume(pos, "either", aboutLostStore)
		}
		d.escape(s, v)
		return
	case Ref:
		if o := s.heap[before.object]; o != nil && o.kind == "cell" {
			d.tear(s, object, path)
			d.writeCell(s, before.object, v, pos)
			return
		}
		if isLock(s, before) {
			if now, isRef := v.(Ref); !isRef || !isLock(s, now) {
				d.resets(s, object, path, before, pos)
				return
			}
			if s.escaped[object] {
				d.assume(pos, "either", aboutOverwrittenLock)
				return
			}
		}
	case Agg:
		if now, ok := v.(Agg); ok && len(now.elems) == len(before.elems) {
			for i := range before.elems {
				d.storeAt(s, object, sub(path, i), before.elems[i], now.elems[i], pos)
			}
			return
		}
		// A struct of which nothing is known: its locks stay.
		for i := range before.elems {
			if sym, ok := v.(Sym); ok {
				if isLock(s, before.elems[i]) {
					continue
				}
				d.storeAt(s, object, sub(path, i), before.elems[i], Sym{fmt.Sprintf("%s.%d", sym.id, i)}, pos)
			}
		}
		if _, ok := v.(Sym); !ok {
			d.weaken(s, object, path, before, nil)
		}
		return
	}
	d.tear(s, object, path)
	if s.escaped[object] && !equal(old, v) {
		d.note(s, object, path, nil, true)
		d.escape(s, v)
	}
	o := s.heap[object]
	if o.owner == s.owner && setElement(o.value, path, v) {
		o.memory = nil
		return
	}
	value, ok := with(o.value, path, v)
	if ok {
		copied := *o
		copied.value = value
		copied.owner = nil
		if path != "" {
			copied.owner = s.owner
		}
		s.heap[object] = &copied
	}
}

// setElement replaces the part at a path in a value whose outermost elements may be changed.
func setElement(v Value, path string, part Value) bool {
	agg, ok := v.(Agg)
	if _, _, _, windowed := window(path); !ok || windowed || path == "" {
		return false
	}
	index, rest := step(path)
	if index < 0 || index >= len(agg.elems) {
		return false
	}
	inner, ok := with(agg.elems[index], rest, part)
	if ok {
		agg.elems[index] = inner
	}
	return ok
}

func (d *Driver) unary(s *State, i *ssa.UnOp) Value {
	x := d.value(s, i.X)
	switch i.Op {
	case token.MUL:
		return d.load(s, x, i.Type(), i)
	case token.NOT:
		switch x := x.(type) {
		case KBool:
			return !x
		case Dyn:
			return Dyn{&Expr{op: "!", args: []*Expr{x.expr}}}
		case Sym:
			if strings.HasPrefix(x.id, "!") {
				return Sym{x.id[1:]}
			}
			return Sym{"!" + x.id}
		}
	case token.SUB:
		basic, _ := i.Type().Underlying().(*types.Basic)
		switch x := x.(type) {
		case KInt:
			if basic != nil {
				return wrapInteger(-int64(x), basic)
			}
		case KFloat:
			return -x
		case Dyn:
			if (!s.multi || d.limits.scalars) && basic != nil && (basic.Kind() == types.Int || basic.Kind() == types.Int64) {
				return Dyn{&Expr{op: "-", args: []*Expr{{op: "int"}, x.expr}}}
			}
		}
	}
	if x, ok := x.(Dyn); ok && i.Op == token.XOR && (!s.multi || d.limits.scalars) {
		// The complement of a signed number is one less than its negative, and all bits less the
		// number otherwise.
		if basic, ok := i.Type().Underlying().(*types.Basic); ok {
			all := int64(-1)
			if low, high, narrow := rangeOf(basic); narrow && low == 0 {
				all = high
			}
			return Dyn{&Expr{op: "-", args: []*Expr{{op: "int", n: all}, x.expr}}}
		}
	}
	if n, ok := x.(KInt); ok && i.Op == token.XOR {
		if basic, ok := i.Type().Underlying().(*types.Basic); ok {
			return wrapInteger(^int64(n), basic)
		}
	}
	return d.derived(s, i, i.Op.String(), x)
}

func (d *Driver) extract(s *State, i *ssa.Extract) Value {
	if t, ok := d.value(s, i.Tuple).(Tup); ok && i.Index < len(t.elems) {
		if v := t.elems[i.Index]; v != nil {
			return v
		}
	}
	return d.unknown(s, here(s.top()), i, i.Type())
}

func (d *Driver) typeAssert(s *State, i *ssa.TypeAssert) Value {
	x := d.value(s, i.X)
	fits, known := false, false
	var inner Value
	switch v := x.(type) {
	case Ifc:
		if v.typ != nil {
			known = true
			if target, ok := i.AssertedType.Underlying().(*types.Interface); ok {
				fits = types.Implements(v.typ, target)
				inner = v
			} else {
				fits = types.Identical(v.typ, i.AssertedType)
				inner = v.v
			}
		}
	case KNil:
		known = true
	}
	if !known {
		inner = d.unknown(s, here(s.top()), i, i.AssertedType)
		if i.CommaOk {
			return Tup{[]Value{inner, Sym{"is(" + text(x) + "," + typeName(i.AssertedType) + ")"}}}
		}
		return inner
	}
	if !fits {
		inner = zeroPlain(i.AssertedType)
	}
	if i.CommaOk {
		return Tup{[]Value{inner, KBool(fits)}}
	}
	return inner
}
