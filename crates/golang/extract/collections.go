package main

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// largest is how many elements of an array or slice are followed one by one.
const largest = 256

// largestBuffer is the same for bytes: the buffers of bufio have this size.
const largestBuffer = 4096

// mostElements is how many elements of a type are followed in one array or slice.
func mostElements(element types.Type) int64 {
	if basic, ok := element.Underlying().(*types.Basic); ok && basic.Kind() == types.Uint8 {
		return largestBuffer
	}
	return largest
}

// isBuffer tells arrays that are followed only while one goroutine sees them.
func isBuffer(o *Object) bool {
	if o == nil || o.typ == nil {
		return false
	}
	array, ok := o.typ.Underlying().(*types.Array)
	return ok && array.Len() > largest
}

// someIndex is the path of an element whose index is not known.
const someIndex = "/*"

func (d *Driver) index(s *State, i ssa.Value, of, index ssa.Value) Value {
	x := d.value(s, of)
	if n, ok := d.value(s, index).(KInt); ok {
		if part, ok := at(x, sub("", int(n))); ok && n >= 0 {
			return part
		}
		if known, ok := x.(KStr); ok && n >= 0 && int(n) < len(known) {
			return KInt(known[n])
		}
	}
	return d.derived(s, i, "index", x, d.value(s, index))
}

func (d *Driver) indexAddress(s *State, i *ssa.IndexAddr) Value {
	x := d.value(s, i.X)
	n, known := d.value(s, i.Index).(KInt)
	element := i.Type().(*types.Pointer).Elem()
	switch v := x.(type) {
	case Ptr:
		if known && n >= 0 {
			return Ptr{v.object, sub(v.path, int(n))}
		}
		return d.someElement(s, v.object, v.path, 0, -1, element, i)
	case Slc:
		if known && n >= 0 && int(n) < v.n {
			return Ptr{v.object, sub(v.path, v.low+int(n))}
		}
		if !known {
			return d.someElement(s, v.object, v.path, v.low, v.n, element, i)
		}
	}
	if holdsConcurrency(element) {
		d.assume(i.Pos(), "either", aboutUnknownElement)
	}
	return d.derived(s, i, "element", x, d.value(s, i.Index))
}

// someElement is the address of an element whose index is not known: any of them, if they hold
// channels or locks.
func (d *Driver) someElement(s *State, object, path string, low, n int, element types.Type, i *ssa.IndexAddr) Value {
	o := s.heap[object]
	if o != nil && o.kind == "memory" {
		if agg, ok := partOf(o.value, path).(Agg); ok {
			if n < 0 {
				n = len(agg.elems)
			}
			if n == 1 {
				return Ptr{object, sub(path, low)}
			}
			if n > 1 && n <= 8 && low+n <= len(agg.elems) && mayHoldConcurrency(element, 3) {
				return Model{"oneof", []Value{Slc{object, path, low, n, n}}}
			}
		}
		if mayHoldConcurrency(element, 3) {
			d.assume(i.Pos(), "either", aboutUnknownElement)
		}
		return Ptr{object, path + someIndex}
	}
	return d.unknown(s, here(s.top()), i, i.Type())
}

func partOf(v Value, path string) Value {
	part, _ := at(v, path)
	return part
}

func (d *Driver) makeSlice(s *State, i *ssa.MakeSlice) Value {
	n, ok1 := d.value(s, i.Len).(KInt)
	max, ok2 := d.value(s, i.Cap).(KInt)
	element := i.Type().Underlying().(*types.Slice).Elem()
	if !ok1 || !ok2 || int64(max) > mostElements(element) || n < 0 || max < n {
		if holdsConcurrency(element) {
			d.assume(i.Pos(), "either", aboutUnknownElement)
		}
		return d.unknown(s, here(s.top()), i, i.Type())
	}
	array := types.NewArray(element, int64(max))
	key := here(s.top()) + fmt.Sprintf("%p", i)
	p := d.newObject(s, d.world.nameAt(i), key, array, i.Pos()).(Ptr)
	return Slc{p.object, "", 0, int(n), int(max)}
}

// newSlice is a new slice of known elements, with room for more.
func (d *Driver) newSlice(s *State, site ssa.Value, t *types.Slice, elems []Value, room int) Value {
	all := append([]Value(nil), elems...)
	for len(all) < room {
		all = append(all, zeroPlain(t.Elem()))
	}
	name := d.fresh(s, "slice", here(s.top())+fmt.Sprintf("%p", site))
	array := types.NewArray(t.Elem(), int64(len(all)))
	s.heap[name] = &Object{kind: "memory", typ: array, value: Agg{all}, multi: d.repeats(s)}
	return Slc{name, "", 0, len(elems), len(all)}
}

// elementsFrom is the rest of an array, beginning with the element that a pointer points to.
func (d *Driver) elementsFrom(s *State, v Value) (Slc, bool) {
	p, ok := v.(Ptr)
	if !ok || s.heap[p.object] == nil {
		return Slc{}, false
	}
	last := strings.LastIndexByte(p.path, '/')
	if last < 0 || strings.ContainsAny(p.path, "@*") {
		return Slc{}, false
	}
	array, ok := partTypeAt(s.heap[p.object].typ, p.path[:last]).(*types.Array)
	index, _ := step(p.path[last:])
	if !ok || int64(index) >= array.Len() {
		return Slc{}, false
	}
	n := int(array.Len()) - index
	return Slc{p.object, p.path[:last], index, n, n}, true
}

// bounds are the limits of a slice expression, as far as they are known.
func (d *Driver) bounds(s *State, i *ssa.Slice, length, capacity int) (low, high, max int, known bool) {
	bound := func(v ssa.Value, otherwise int) int {
		if v == nil {
			return otherwise
		}
		n, ok := d.value(s, v).(KInt)
		known = known && ok
		return int(n)
	}
	known = true
	low, high, max = bound(i.Low, 0), bound(i.High, length), bound(i.Max, capacity)
	return low, high, max, known
}

// sliced finds what a slice expression takes a part of: its length and capacity, if they are known.
func (d *Driver) sliced(s *State, i *ssa.Slice) (length, capacity int, known bool) {
	switch v := d.value(s, i.X).(type) {
	case Ptr:
		pointer, ok := i.X.Type().Underlying().(*types.Pointer)
		if !ok {
			return 0, 0, false
		}
		array, ok := pointer.Elem().Underlying().(*types.Array)
		if !ok || array.Len() > mostElements(array.Elem()) {
			return 0, 0, false
		}
		return int(array.Len()), int(array.Len()), true
	case Slc:
		return v.n, v.max, true
	case KStr:
		return len(v), len(v), true
	case KNil:
		return 0, 0, true
	}
	return 0, 0, false
}

func (d *Driver) slice(s *State, i *ssa.Slice) Value {
	x := d.value(s, i.X)
	length, capacity, known := d.sliced(s, i)
	low, high, max, ok := d.bounds(s, i, length, capacity)
	if known && ok && low >= 0 && low <= high && high <= max && max <= capacity {
		switch v := x.(type) {
		case Ptr:
			return Slc{v.object, v.path, low, high - low, max - low}
		case Slc:
			return Slc{v.object, v.path, v.low + low, high - low, max - low}
		case KStr:
			return v[low:high]
		case KNil:
			return v
		}
	}
	if _, ok := x.(Slc); ok && mayHoldConcurrency(i.Type(), 3) {
		d.assume(i.Pos(), "either", aboutUnknownElement)
	}
	operands := []Value{x}
	for _, v := range []ssa.Value{i.Low, i.High, i.Max} {
		if v != nil {
			operands = append(operands, d.value(s, v))
		}
	}
	result := d.derived(s, i, "slice", operands...)
	_, isSlice := x.(Slc)
	_, isArray := x.(Ptr)
	if sym, ok := result.(Sym); ok && (isSlice || isArray) && !strings.Contains(sym.id, "slice(") {
		// What it is a part of is known, whatever its bounds depend on.
		return d.unknown(s, here(s.top()), i, i.Type())
	}
	return result
}

// appends is the builtin append.
func (d *Driver) appends(s *State, site ssa.Value, args []Value, pos token.Pos) Value {
	t, isSlice := site.Type().Underlying().(*types.Slice)
	key := here(s.top()) + fmt.Sprintf("%p", site)
	var old Slc
	known := isSlice
	switch v := args[0].(type) {
	case KNil:
	case Slc:
		old = v
	default:
		known = false
	}
	var more []Value
	if len(args) > 1 && known {
		more, known = d.appended(s, args[1], t, key, pos)
	}
	if !known || int64(old.n+len(more)) > mostElements(t.Elem()) {
		if isSlice && holdsConcurrency(t.Elem()) {
			d.assume(pos, "either", aboutUnknownElement)
		}
		if old.object != "" {
			// What is appended may be written into the array.
			d.disturbObject(s, old.object)
		}
		if isSlice && aliasable(args[0]) {
			d.havoc(s, t.Elem())
		}
		return d.unknown(s, here(s.top()), site, site.Type())
	}
	if old.object != "" && old.n+len(more) <= old.max {
		for k, v := range more {
			d.store(s, Ptr{old.object, sub(old.path, old.low+old.n+k)}, v, pos)
		}
		return Slc{old.object, old.path, old.low, old.n + len(more), old.max}
	}
	if old.object == "" && len(more) == 0 {
		return args[0]
	}
	elems := append(d.loadElements(s, old, t.Elem(), key, pos), more...)
	if len(elems) != old.n+len(more) {
		return d.unknown(s, here(s.top()), site, site.Type())
	}
	return d.newSlice(s, site, t, elems, d.grown(t, old, len(more)))
}

// appended are the elements that append adds.
func (d *Driver) appended(s *State, v Value, t *types.Slice, key string, pos token.Pos) ([]Value, bool) {
	switch v := v.(type) {
	case KNil:
		return nil, true
	case Slc:
		elems := d.loadElements(s, v, t.Elem(), key+"more", pos)
		return elems, len(elems) == v.n
	case KStr:
		var elems []Value
		for _, b := range []byte(v) {
			elems = append(elems, KInt(b))
		}
		return elems, true
	}
	return nil, false
}

// grown is the capacity that append gives a slice which has no room: the runtime of this very
// program is asked, with elements of the same size.
func (d *Driver) grown(t *types.Slice, old Slc, more int) int {
	size := 8
	if sizes := d.world.sizes; sizes != nil {
		size = int(sizes.Sizeof(t.Elem()))
	}
	var element reflect.Type
	switch {
	case size == 0:
		return old.n + more
	case hasPointers(t.Elem(), 6) && size >= 8:
		pointers := reflect.ArrayOf(size/8, reflect.TypeFor[*byte]())
		element = pointers
	default:
		element = reflect.ArrayOf(size, reflect.TypeFor[byte]())
	}
	slice := reflect.SliceOf(element)
	before := reflect.MakeSlice(slice, old.n, max(old.n, old.max))
	if old.object == "" {
		before = reflect.Zero(slice)
	}
	return reflect.AppendSlice(before, reflect.MakeSlice(slice, more, more)).Cap()
}

// hasPointers tells whether the collector has to look into values of a type.
func hasPointers(t types.Type, depth int) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer
	case *types.Struct:
		for i := range u.NumFields() {
			if depth == 0 || hasPointers(u.Field(i).Type(), depth-1) {
				return true
			}
		}
		return false
	case *types.Array:
		return u.Len() > 0 && (depth == 0 || hasPointers(u.Elem(), depth-1))
	}
	return true
}

// elements lists what a slice holds, if that is known, without looking into what goroutines share.
func (d *Driver) elements(s *State, v Slc) []Value {
	o := s.heap[v.object]
	if o == nil {
		return nil
	}
	agg, ok := partOf(o.value, v.path).(Agg)
	if !ok || v.low+v.n > len(agg.elems) {
		return nil
	}
	return append([]Value{}, agg.elems[v.low:v.low+v.n]...)
}

// loadElements reads what a slice holds.
func (d *Driver) loadElements(s *State, v Slc, element types.Type, key string, pos token.Pos) []Value {
	if v.object == "" || v.n == 0 {
		return nil
	}
	elems := d.elements(s, v)
	for i, e := range elems {
		if s.escaped[v.object] {
			d.note(s, v.object, sub(v.path, v.low+i), e, false)
		}
		place := fmt.Sprintf("%s.%d", key, i)
		read := d.mended(s, v.object, sub(v.path, v.low+i), d.readCells(s, e, element, place, pos), element, place)
		elems[i] = d.copied(s, read, element, pos)
	}
	return elems
}

// copies is the builtin copy.
func (d *Driver) copies(s *State, site *ssa.Call, args []Value, pos token.Pos) Value {
	to, ok := args[0].(Slc)
	var from []Value
	known := false
	if isNil(args[0]) || isNil(args[1]) {
		return KInt(0)
	}
	if ok {
		element := s.heap[to.object].typ
		if array, isArray := partTypeAt(element, to.path).(*types.Array); isArray {
			from, known = d.appended(s, args[1], types.NewSlice(array.Elem()), here(s.top())+fmt.Sprintf("%p", args), pos)
		}
	}
	if !known {
		d.copiedUnknown(s, site, to, ok, args[0], pos)
		if site == nil {
			return KInt(0)
		}
		return d.derived(s, site, "copied", args...)
	}
	n := min(len(from), to.n)
	for i := range n {
		d.store(s, Ptr{to.object, sub(to.path, to.low+i)}, from[i], pos)
	}
	return KInt(int64(n))
}

// copiedUnknown: what is copied into a slice, or the slice, is not known.
func (d *Driver) copiedUnknown(s *State, site *ssa.Call, to Slc, known bool, slice Value, pos token.Pos) {
	if known {
		d.disturbObject(s, to.object)
	}
	if site == nil {
		// A deferred copy.
		d.assume(pos, "either", aboutUnknownElement)
		return
	}
	of, ok := site.Call.Args[0].Type().Underlying().(*types.Slice)
	if !ok {
		return
	}
	if holdsConcurrency(of.Elem()) {
		d.assume(pos, "either", aboutUnknownElement)
	}
	if aliasable(slice) {
		d.havoc(s, of.Elem())
	}
}

// partTypeAt is the type of the part of a type at a path.
func partTypeAt(t types.Type, path string) types.Type {
	for path != "" && t != nil {
		if _, n, rest, ok := window(path); ok {
			if array, isArray := t.Underlying().(*types.Array); isArray {
				t, path = types.NewArray(array.Elem(), int64(n)), rest
				continue
			}
			return nil
		}
		index, rest := step(path)
		t, path = partType(t, index), rest
	}
	if t == nil {
		return nil
	}
	return t.Underlying()
}

// clears is the builtin clear.
func (d *Driver) clears(s *State, v Value, pos token.Pos) {
	switch v := v.(type) {
	case KNil:
	case Slc:
		if array, ok := partTypeAt(s.heap[v.object].typ, v.path).(*types.Array); ok {
			for i := range v.n {
				d.store(s, Ptr{v.object, sub(v.path, v.low+i)}, zeroPlain(array.Elem()), pos)
			}
			return
		}
		d.disturbObject(s, v.object)
	case Ptr:
		d.clearMap(s, v.object, pos)
	default:
		d.assume(pos, "either", aboutUnknownElement)
	}
}

// aliasable tells whether an unknown pointer may point to memory that this program follows: one that
// comes from outside does not, but a part of known memory with such bounds does.
func aliasable(v Value) bool {
	sym, ok := v.(Sym)
	return ok && (strings.Contains(sym.id, "slice(") || !fromOutside(sym.id) && !strings.HasPrefix(sym.id, "«e"))
}
