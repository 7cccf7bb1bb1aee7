package main

import (
	"go/token"
	"go/types"
	"go/version"

	"golang.org/x/tools/go/ssa"
)

// builtin performs a builtin function.
func (d *Driver) builtin(s *State, site *ssa.Call, call *ssa.CallCommon, name string, args []Value, pos token.Pos) bool {
	f := s.top()
	finish := func(v Value) {
		if site != nil {
			f.regs[site] = v
		}
	}
	switch name {
	case "close":
		d.operation(pos)
		to := d.endOf(s, args[0])
		if to.unknown || to.timer {
			d.assume(pos, "either", aboutUnknownClose)
			return false
		}
		recoverable := d.isRecoverable(s)
		open, known := s.isOpen(to.expr.name)
		switch {
		case recoverable && isNil(args[0]):
			return d.panics(s, d.runtimeError("close of nil channel"), pos)
		case recoverable && known && !open:
			return d.panics(s, d.runtimeError("close of closed channel"), pos)
		}
		if to.object != nil {
			d.closes(to.object)
		}
		d.put(&Code{op: opClose, on: to.expr, pos: pos}).recovered = recoverable && !known
		s.shuts(to.expr.name)
	case "append":
		if site != nil {
			finish(d.appends(s, site, args, pos))
		}
	case "len", "cap":
		if name, ok := d.sharedMap(s, args[0]); ok && site != nil {
			if done, end := d.sharedLength(s, site, name); done {
				return end
			}
		}
		finish(d.length(s, site, name, args[0]))
	case "copy":
		finish(d.copies(s, site, args, pos))
	case "delete":
		d.deletes(s, args[0], args[1], argumentType(call, 0), pos)
	case "clear":
		d.clears(s, args[0], pos)
	case "panic":
		return d.panics(s, args[0], pos)
	case "recover":
		finish(d.recovers(s))
	case "ssa:wrapnilchk":
		if isNil(args[0]) {
			return d.panics(s, d.runtimeError("runtime error: invalid memory address or nil pointer dereference"), pos)
		}
		finish(args[0])
	case "ssa:deferstack":
		finish(Model{"deferstack", []Value{KInt(int64(len(s.frames) - 1))}})
	case "print", "println":
	case "SliceData":
		finish(args[0])
	case "String":
		slice, ok1 := args[0].(Slc)
		if !ok1 {
			slice, ok1 = d.elementsFrom(s, args[0])
		}
		n, ok2 := args[1].(KInt)
		if isNil(args[0]) && ok2 && n == 0 {
			finish(KStr(""))
			break
		}
		if ok1 && ok2 && int(n) <= slice.max {
			slice.n = int(n)
			if known, ok := d.sliceAsText(s, slice, types.NewSlice(types.Typ[types.Uint8])); ok {
				finish(known)
				break
			}
		}
		if site != nil {
			finish(d.derived(s, site, "string", args...))
		}
	default:
		if site != nil {
			if name == "min" || name == "max" {
				finish(d.extreme(s, site, name, args))
			} else {
				finish(d.unknown(s, here(f), site, site.Type()))
			}
		}
	}
	return false
}

// extreme is the builtin min or max.
func (d *Driver) extreme(s *State, site *ssa.Call, name string, args []Value) Value {
	basic, _ := site.Type().Underlying().(*types.Basic)
	best := args[0]
	for _, arg := range args[1:] {
		less, ok := constants(token.LSS, arg, best, basic)
		if !ok {
			return d.derived(s, site, name, args...)
		}
		if (name == "min") == bool(less.(KBool)) && !equal(arg, best) {
			best = arg
		}
	}
	return best
}

// closes notes that receivers may get the zero of the messages' type from now on.
func (d *Driver) closes(channel *Object) {
	key := d.messages(channel.key).find().key
	if !d.facts.closed[key] {
		d.facts.closed[key] = true
		d.changed = true
	}
}

func (d *Driver) length(s *State, site *ssa.Call, name string, v Value) Value {
	switch v := v.(type) {
	case Slc:
		if name == "cap" {
			return KInt(int64(v.max))
		}
		return KInt(int64(v.n))
	case KStr:
		return KInt(int64(len(v)))
	case KNil:
		if site != nil {
			if pointer, ok := site.Call.Args[0].Type().Underlying().(*types.Pointer); ok {
				if array, ok := pointer.Elem().Underlying().(*types.Array); ok {
					return KInt(array.Len())
				}
			}
		}
		return KInt(0)
	case Sym:
		if site != nil {
			if _, isChannel := site.Call.Args[0].Type().Underlying().(*types.Chan); isChannel {
				return d.unknownFrom(s, here(s.top()), site, site.Type(), fromOutside(v.id))
			}
		}
		return Sym{name + "(" + v.id + ")"}
	case Agg:
		return KInt(int64(len(v.elems)))
	case Ptr:
		o := s.heap[v.object]
		if o != nil && o.kind == "map" && !o.blurred && !d.isShared(s, v.object) {
			return KInt(int64(len(o.entries)))
		}
		if site != nil {
			if pointer, ok := site.Call.Args[0].Type().Underlying().(*types.Pointer); ok {
				if array, ok := pointer.Elem().Underlying().(*types.Array); ok {
					return KInt(array.Len())
				}
			}
		}
	case Ref:
		if o := s.heap[v.object]; o != nil && (o.kind == "timer" || o.clock != "") && d.hasUnbufferedTimers() {
			return KInt(0)
		}
		if o := s.heap[v.object]; o != nil && o.kind == "chan" {
			if name == "cap" && o.room >= 0 && !o.nilable {
				return KInt(int64(o.room))
			}
			if n, ok := s.count(v.object); name == "len" && ok {
				return KInt(n)
			}
			if name == "len" && o.room == 0 && !o.nilable {
				return KInt(0)
			}
		}
	}
	if site == nil {
		return Sym{"«?»"}
	}
	return d.unknown(s, here(s.top()), site, site.Type())
}

// hasUnbufferedTimers tells whether the channels of timers have no buffer that can be seen.
func (d *Driver) hasUnbufferedTimers() bool {
	return d.home == nil || version.Compare(d.home.GoVersion(), "go1.23") >= 0
}

// argumentType is the type of an argument of a call.
func argumentType(call *ssa.CallCommon, i int) types.Type {
	if call == nil || i >= len(call.Args) {
		return nil
	}
	return call.Args[i].Type()
}
