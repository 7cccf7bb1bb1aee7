package main

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Pieces are the instructions of a package's initialiser in groups that have nothing to do with
// each other: the initialisation of one variable, most often, or the call of an init function.
type Pieces struct {
	of    map[*ssa.BasicBlock][]int
	meets map[*ssa.BasicBlock]*ssa.BasicBlock // of conditions: where their sides meet
	each  []*Piece
}

// Piece is one of them.
type Piece struct {
	init     *ssa.Function
	number   int
	keep     bool // does something besides setting variables
	large    bool // takes many steps
	mentions Mentions
}

// piecesOf takes an initialiser apart.
func (w *World) piecesOf(init *ssa.Function) *Pieces {
	if p := w.pieces[init]; p != nil {
		return p
	}
	parent := map[any]any{}
	var find func(x any) any
	find = func(x any) any {
		if parent[x] == nil || parent[x] == x {
			return x
		}
		root := find(parent[x])
		parent[x] = root
		return root
	}
	instructions(init, func(instr ssa.Instruction) {
		for _, operand := range instr.Operands(nil) {
			if other, ok := (*operand).(ssa.Instruction); ok {
				parent[find(other)] = find(instr)
			}
			if global, ok := (*operand).(*ssa.Global); ok {
				parent[find(global)] = find(instr)
			}
		}
	})
	// What is done on one side of a condition belongs to the condition. The first block asks whether
	// the package has been initialised before.
	p := &Pieces{of: map[*ssa.BasicBlock][]int{}, meets: map[*ssa.BasicBlock]*ssa.BasicBlock{}}
	within := map[ssa.Instruction]bool{}
	for _, b := range init.Blocks[1:] {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		meet := postDominator(b)
		if meet == nil {
			continue
		}
		p.meets[b] = meet
		join := func(instr ssa.Instruction) {
			within[instr] = true
			parent[find(instr)] = find(branch)
		}
		within[branch] = true
		for inside := range between(b, meet) {
			for _, instr := range inside.Instrs {
				join(instr)
			}
		}
		for _, instr := range meet.Instrs {
			if phi, ok := instr.(*ssa.Phi); ok {
				join(phi)
			}
		}
	}
	pieces := map[any]*Piece{}
	sizes := map[*Piece]int{}
	for _, b := range init.Blocks {
		list := make([]int, len(b.Instrs))
		for i, instr := range b.Instrs {
			root := find(instr)
			piece := pieces[root]
			if piece == nil {
				piece = &Piece{init: init, number: len(p.each)}
				pieces[root] = piece
				p.each = append(p.each, piece)
			}
			list[i] = piece.number
			sizes[piece]++
			piece.large = piece.large || sizes[piece] > largePiece || w.callsLoop(instr)
			w.mention(&piece.mentions, instr)
			if !within[instr] && isControl(instr) || !w.sets(instr) {
				piece.keep = true
			}
		}
		p.of[b] = list
	}
	w.pieces[init] = p
	return p
}

// largePiece is how many instructions make a piece of an initialiser large.
const largePiece = 60

// callsLoop tells calls of functions that have loops.
func (w *World) callsLoop(instr ssa.Instruction) bool {
	call, ok := instr.(*ssa.Call)
	if !ok {
		return false
	}
	callee := call.Call.StaticCallee()
	return callee != nil && w.isReadable(callee) && slices.ContainsFunc(callee.Blocks, func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Preds, func(from *ssa.BasicBlock) bool { return b.Dominates(from) })
	})
}

// linkInits finds, for each package variable, the pieces of initialisers that may use or set it.
func (w *World) linkInits() {
	w.touching, w.lazy = map[*ssa.Global][]*Piece{}, map[*ssa.Global]bool{}
	for _, root := range w.ordered {
		init := root.Func("init")
		if init == nil || len(init.Blocks) == 0 {
			continue
		}
		for _, piece := range w.piecesOf(init).each {
			if piece.keep {
				continue
			}
			globals, ok := w.touched(&piece.mentions)
			piece.keep = !ok
			for global := range globals {
				if w.isRoot(global.Pkg) {
					w.touching[global] = append(w.touching[global], piece)
					w.lazy[global] = w.lazy[global] || piece.large
				}
			}
		}
	}
}

// touched are the package variables that a piece may use or set, with what it calls, unless it does
// more than that or leads to more functions than are worth looking at.
func (w *World) touched(mentions *Mentions) (map[*ssa.Global]bool, bool) {
	globals, ok := w.touchedBy(mentions, false)
	if !ok {
		return nil, false
	}
	for global := range globals {
		if w.isRoot(global.Pkg) && mayHoldMethods(global.Type().(*types.Pointer).Elem(), 6) {
			// What is called through it may come from elsewhere.
			return w.touchedBy(mentions, true)
		}
	}
	return globals, true
}

// touchedBy finds them. The methods that a call of an interface's method may mean are those of what
// the piece itself puts into interfaces, or of everything that is put into one anywhere.
func (w *World) touchedBy(mentions *Mentions, anywhere bool) (map[*ssa.Global]bool, bool) {
	const most = 2000
	globals := map[*ssa.Global]bool{}
	seen := map[*ssa.Function]bool{}
	// What it has as values is called if it calls anything that is not known by its name.
	var stack, boxed []*ssa.Function
	called := false
	visit := func(m *Mentions) {
		for _, global := range m.globals {
			globals[global] = true
		}
		stack = append(stack, m.functions...)
		for _, method := range m.methods {
			called = true
			if anywhere {
				stack = append(stack, w.implementations(method)...)
			}
		}
		if anywhere {
			for _, signature := range m.values {
				stack = append(stack, w.graph.taken[signature]...)
			}
		}
		boxed = append(append(boxed, m.boxed...), m.taken...)
		called = called || m.hands || len(m.values) > 0
	}
	visit(mentions)
	for {
		if called {
			stack, boxed = append(stack, boxed...), nil
		}
		if len(stack) == 0 {
			return globals, true
		}
		fn := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[fn] || isPackageInit(fn) {
			continue
		}
		seen[fn] = true
		m := w.mentionsOf(fn)
		if m.keeps || m.waits || len(seen) > most {
			return nil, false
		}
		visit(m)
	}
}

func isControl(instr ssa.Instruction) bool {
	switch instr.(type) {
	case *ssa.If, *ssa.Jump, *ssa.Phi:
		return true
	}
	return false
}

// sets tells instructions that do nothing besides setting variables.
func (w *World) sets(instr ssa.Instruction) bool {
	switch i := instr.(type) {
	case *ssa.Return, *ssa.Go, *ssa.Defer, *ssa.Send, *ssa.Select, *ssa.Panic, *ssa.RunDefers:
		return false
	case *ssa.Store:
		// A variable of a package that is not read has no initialiser here.
		global, ok := i.Addr.(*ssa.Global)
		return !ok || w.isRoot(global.Pkg)
	case *ssa.Call:
		if _, builtin := i.Call.Value.(*ssa.Builtin); builtin || i.Call.IsInvoke() {
			return true
		}
		callee := i.Call.StaticCallee()
		return callee != nil && !w.waits(instr) && !w.keeps(&i.Call, callee)
	}
	return true
}

// waits tells whether an instruction may start a goroutine, or wait for one. Locks that no
// other goroutine uses do not make an initialiser wait.
func (w *World) waits(instr ssa.Instruction) bool {
	if call, ok := instr.(ssa.CallInstruction); ok {
		if callee := call.Common().StaticCallee(); callee != nil {
			switch functionName(callee) {
			case "(*sync.Mutex).Lock", "(*sync.Mutex).Unlock", "(*sync.RWMutex).Lock", "(*sync.RWMutex).Unlock",
				"(*sync.RWMutex).RLock", "(*sync.RWMutex).RUnlock", "(*sync.Once).Do", "(*sync.Pool).Get", "(*sync.Pool).Put",
				"(*sync.Map).Load", "(*sync.Map).Store", "(*sync.Map).LoadOrStore", "sync.NewCond", "sync.OnceFunc", "sync.OnceValue", "sync.OnceValues",
				"context.Background", "context.TODO":
				_, spawns := instr.(*ssa.Go)
				return spawns
			}
		}
	}
	return w.isNoticed(instr)
}

func isPackageInit(fn *ssa.Function) bool {
	return fn.Name() == "init" && fn.Synthetic != "" && fn.Parent() == nil
}

// keeps tells whether a function that is not read may keep something to call it back later that is
// noticed.
func (w *World) keeps(call *ssa.CallCommon, callee *ssa.Function) bool {
	path, _ := w.outsidePath(callee)
	if path == "sync" || !w.hands(call, callee, w.communicates) {
		return false
	}
	switch callee.Name() {
	case "SetOutput", "SetDefault", "New":
		return path == "log" || path == "log/slog" || !changesNothing(callee)
	}
	return !changesNothing(callee)
}

// hands tells whether a function that is not read is given a function to call, or a method, of
// those that matter.
func (w *World) hands(call *ssa.CallCommon, callee *ssa.Function, matters func(*ssa.Function) bool) bool {
	if path, outside := w.outsidePath(callee); !outside || path == "reflect" {
		return false
	}
	if registers[functionName(callee)] {
		matters = w.communicates
	}
	args := call.Args
	if callee.Signature.Recv() != nil && len(args) > 0 {
		args = args[1:]
	}
	return slices.ContainsFunc(args, func(arg ssa.Value) bool { return w.leadsTo(arg, matters) })
}

// leadsTo tells whether code that has a value may call a function by it that matters.
func (w *World) leadsTo(v ssa.Value, matters func(*ssa.Function) bool) bool {
	switch v := v.(type) {
	case *ssa.Const:
		return false
	case *ssa.Function:
		return matters(v)
	case *ssa.MakeClosure:
		return matters(v.Fn.(*ssa.Function))
	case *ssa.MakeInterface:
		for _, t := range w.inside(v.X.Type()) {
			if slices.ContainsFunc(w.methodsOf(t), matters) {
				return true
			}
		}
		return false
	case *ssa.UnOp:
		if global, ok := v.X.(*ssa.Global); ok && !w.isRoot(global.Pkg) {
			return false
		}
	case *ssa.Slice:
		// The arguments of a function with any number of them.
		if array, ok := v.X.(*ssa.Alloc); ok && array.Comment == "varargs" {
			for _, referrer := range *array.Referrers() {
				element, ok := referrer.(*ssa.IndexAddr)
				if !ok {
					continue
				}
				for _, use := range *element.Referrers() {
					if store, ok := use.(*ssa.Store); ok && w.leadsTo(store.Val, matters) {
						return true
					}
				}
			}
			return false
		}
	}
	_, pointer := v.Type().Underlying().(*types.Pointer)
	return !pointer && mayHoldMethods(v.Type(), 4)
}

func anything(*ssa.Function) bool { return true }

// mayHoldMethods tells whether something can be called through values of a type.
func mayHoldMethods(t types.Type, depth int) bool {
	if depth == 0 {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Signature, *types.Interface:
		return true
	case *types.Slice:
		return mayHoldMethods(u.Elem(), depth-1)
	case *types.Array:
		return mayHoldMethods(u.Elem(), depth-1)
	case *types.Map:
		return mayHoldMethods(u.Elem(), depth-1) || mayHoldMethods(u.Key(), depth-1)
	case *types.Pointer:
		return mayHoldMethods(u.Elem(), depth-1)
	case *types.Struct:
		for field := range u.Fields() {
			if mayHoldMethods(field.Type(), depth-1) {
				return true
			}
		}
	}
	return false
}

func instructions(fn *ssa.Function, visit func(ssa.Instruction)) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			visit(instr)
		}
	}
}

// skipInit goes past instructions of an initialiser that only set variables which the entry has no
// use for.
func (d *Driver) skipInit(s *State) {
	f := s.frames[len(s.frames)-1]
	if f.mode != "" || f.fn.Synthetic == "" || f.block == nil || f.fn.Name() != "init" {
		return
	}
	active, isInit := d.active[f.fn]
	if !isInit {
		return
	}
	pieces := d.world.piecesOf(f.fn)
	block, pc := f.block, f.pc
	for pc < len(block.Instrs) && !active[pieces.of[block][pc]] {
		if _, ok := block.Instrs[pc].(*ssa.If); ok {
			block, pc = pieces.meets[block], 0
		} else {
			pc++
		}
	}
	if pc != f.pc || block != f.block {
		f = s.top()
		f.block, f.pc = block, pc
	}
}
