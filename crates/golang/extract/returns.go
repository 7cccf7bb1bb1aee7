package main

import (
	"golang.org/x/tools/go/ssa"
)

// returns ends a call by a return instruction.
func (d *Driver) returns(s *State, i *ssa.Return) bool {
	var result Value = KNil{}
	switch len(i.Results) {
	case 0:
	case 1:
		result = d.value(s, i.Results[0])
	default:
		elems := make([]Value, len(i.Results))
		for k, r := range i.Results {
			elems[k] = d.value(s, r)
		}
		result = Tup{elems}
	}
	return d.leave(s, result)
}

// leave takes the innermost call away and hands its result to the one below.
func (d *Driver) leave(s *State, result Value) bool {
	f := s.top()
	if len(f.after) > 0 {
		after := f.after[len(f.after)-1]
		f.after = f.after[:len(f.after)-1]
		f.results = result
		f.mode = "left"
		return d.afterwards(s, after, result)
	}
	s.frames = s.frames[: len(s.frames)-1 : len(s.frames)-1]
	if len(s.frames) == 0 {
		d.put(&Code{op: opEnd})
		return true
	}
	below := s.top()
	if call, ok := f.site.(*ssa.Call); ok && !f.deferred {
		below.regs[call] = result
	}
	// Different ways through a function come together where it was called.
	if len(f.fn.Blocks) > 1 && below.mode == "" && s.forked {
		return d.meet(s, d.limits.states*4)
	}
	return false
}

// unwind goes on with a call whose ordinary course is over.
func (d *Driver) unwind(s *State) bool {
	f := s.top()
	switch f.mode {
	case "jump":
		to := f.fn.Blocks[f.results.(Iter).next]
		f.mode, f.results = "", nil
		return d.jump(s, to)
	case "meet":
		f.mode = ""
		limit := d.limits.states
		if len(f.decided) > 0 {
			limit = d.limits.unroll
		}
		return d.meet(s, limit)
	case "left":
		f.mode = ""
		result := f.results
		f.results = nil
		return d.leave(s, result)
	case "recovered":
		f.mode = ""
		if len(f.defers) > 0 {
			f.mode = "recovered"
			return d.runDeferred(s)
		}
		if f.exits {
			// The goroutine was ending when the panic began.
			f.mode, f.exits = "exit", false
			return false
		}
		if f.fn.Recover != nil {
			f.block, f.pc = f.fn.Recover, 0
			return false
		}
		return d.leave(s, d.zeroResults(f.fn))
	}
	// "outside", "panic" and "exit": deferred calls first, then the call below.
	if len(f.defers) > 0 {
		return d.runDeferred(s)
	}
	if mode := f.mode; mode == "panic" && len(f.after) > 0 {
		after := f.after[len(f.after)-1]
		f.after = f.after[:len(f.after)-1]
		if after.what == "recovers" {
			f.mode, f.panic = "", nil
			return d.leave(s, KNil{})
		}
		if after.what == "printed" {
			return d.afterMethod(s, after, nil, true)
		}
		if after.what == "once" {
			// A function that panics counts as called.
			d.afterOnce(s, after, f.panic, false)
		}
		return false
	}
	mode := f.mode
	if mode == "outside" {
		f.mode = ""
		return d.leave(s, KNil{})
	}
	if len(f.after) > 0 && mode == "exit" {
		after := f.after[len(f.after)-1]
		f.after = f.after[:len(f.after)-1]
		switch after.what {
		case "subtest":
			f.mode = ""
			return d.leave(s, KNil{})
		case "printed", "marshalled":
			return false // the goroutine ends, and nothing is printed
		}
		return d.afterwards(s, after, KNil{})
	}
	s.frames = s.frames[: len(s.frames)-1 : len(s.frames)-1]
	if len(s.frames) == 0 {
		switch {
		case mode == "exit" && s.root == "main" && isMain(f.fn):
			// The program goes on without its main goroutine, and never ends well.
			d.put(&Code{op: opGet, on: &Expr{op: "nil"}, pos: f.panicPos})
			d.put(&Code{op: opEnd})
		case mode == "panic":
			d.endsByPanic(f.panic, f.panicPos)
		default:
			d.put(&Code{op: opEnd})
		}
		return true
	}
	below := s.top()
	below.exits = mode == "panic" && (f.exits || below.exits || below.mode == "exit")
	below.mode, below.panic, below.panicPos = mode, f.panic, f.panicPos
	return false
}

func (d *Driver) zeroResults(fn *ssa.Function) Value {
	results := fn.Signature.Results()
	switch results.Len() {
	case 0:
		return KNil{}
	case 1:
		return zeroPlain(results.At(0).Type())
	}
	elems := make([]Value, results.Len())
	for i := range elems {
		elems[i] = zeroPlain(results.At(i).Type())
	}
	return Tup{elems}
}
