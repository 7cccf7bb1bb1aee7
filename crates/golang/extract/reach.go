package main

import (
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Mentions are what a function does itself, and which functions it may lead to.
type Mentions struct {
	communicates bool
	functions    []*ssa.Function // that it calls
	taken        []*ssa.Function // that it has as values
	methods      []Invoked       // methods of interfaces that it calls
	globals      []*ssa.Global
	boxed        []*ssa.Function // methods of what it puts into interfaces
	hands        bool            // gives code that is not read something to call
	keeps        bool            // or to keep and call later
	waits        bool            // starts goroutines or waits for them
	values       []string        // signatures of functions that it calls as values
	flags        Flags
}

// Flags say what parsing flags may do: call something of the program, or set its variables.
type Flags struct{ call, set bool }

// Reached is what an entry can come to.
type Reached struct {
	meets   bool // anything that goroutines meet at
	flags   Flags
	globals map[*ssa.Global]bool
	used    map[*ssa.Global]bool     // of variables whose initialisation is left out until they are used: those that are
	active  map[*ssa.Function][]bool // of initialisers: the pieces that it has a use for
}

// reaches tells whether an entry can come to anything that goroutines meet at, which package
// variables it may use, and what of the packages' initialisers matters to it. Every function that is
// mentioned on the way counts as called, and every method of a type that is put into an interface.
func (w *World) reaches(entry *ssa.Function) *Reached {
	if known, ok := w.reached.Load(entry); ok {
		return known.(*Reached)
	}
	all := w.findReached(entry, nil, false)
	r := w.findReached(entry, nil, true)
	r.meets, r.flags = all.meets, all.flags
	w.reached.Store(entry, r)
	return r
}

// reachesAlso is what an entry can come to if it is known to use these variables, whose large
// initialisation was left out before.
func (w *World) reachesAlso(entry *ssa.Function, used map[*ssa.Global]bool) *Reached {
	before := w.reaches(entry)
	r := w.findReached(entry, used, true)
	r.meets, r.flags = before.meets, before.flags
	w.reached.Store(entry, r)
	return r
}

// findReached follows everything that is mentioned; if it is lazy, large initialisations are left out
// except those of variables that are known to be used.
func (w *World) findReached(entry *ssa.Function, used map[*ssa.Global]bool, lazy bool) *Reached {
	r := &Reached{used: maps.Clone(used), globals: map[*ssa.Global]bool{}, active: map[*ssa.Function][]bool{}}
	seen := map[*ssa.Function]bool{}
	stack := []*ssa.Function{entry}
	var visit func(m *Mentions)
	activate := func(piece *Piece) {
		active, reachable := r.active[piece.init]
		if reachable && !active[piece.number] {
			active[piece.number] = true
			visit(&piece.mentions)
		}
	}
	visit = func(m *Mentions) {
		r.meets = r.meets || m.communicates
		r.flags = Flags{r.flags.call || m.flags.call, r.flags.set || m.flags.set}
		stack = append(append(append(stack, m.functions...), m.taken...), m.boxed...)
		for _, global := range m.globals {
			if !r.globals[global] && (!lazy || !w.lazy[global] || used[global]) {
				r.globals[global] = true
				for _, piece := range w.touching[global] {
					activate(piece)
				}
			}
		}
	}
	inits := w.initsOf(entry)
	for _, init := range inits {
		seen[init] = true
		r.active[init] = make([]bool, len(w.piecesOf(init).each))
	}
	for _, init := range inits {
		for _, piece := range w.piecesOf(init).each {
			if piece.keep {
				activate(piece)
			}
		}
	}
	visit(&Mentions{globals: slices.Collect(maps.Keys(used))})
	for len(stack) > 0 {
		fn := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !seen[fn] && !(fn.Pkg != nil && isModelledModule(fn.Pkg.Pkg.Path())) {
			seen[fn] = true
			visit(w.mentionsOf(fn))
		}
	}
	return r
}

func (w *World) mentionsOf(fn *ssa.Function) *Mentions {
	if m := w.mentions[fn]; m != nil {
		return m
	}
	m := &Mentions{}
	w.mentions[fn] = m
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			w.mention(m, instr)
		}
	}
	return m
}

// mention adds what an instruction does itself and may lead to.
func (w *World) mention(m *Mentions, instr ssa.Instruction) {
	if w.directlyCommunicates(instr) {
		m.communicates = true
	}
	m.waits = m.waits || w.waits(instr)
	for _, operand := range instr.Operands(nil) {
		switch other := (*operand).(type) {
		case *ssa.Function:
			m.taken = append(m.taken, other)
		case *ssa.Global:
			m.globals = append(m.globals, other)
			m.communicates = m.communicates || w.isLoudVariable(other)
		}
	}
	if call, ok := instr.(ssa.CallInstruction); ok {
		if common := call.Common(); common.IsInvoke() {
			m.methods = append(m.methods, invokedBy(common))
		} else if callee := common.StaticCallee(); callee != nil {
			m.functions = append(m.functions, callee)
			m.hands = m.hands || w.hands(common, callee, anything)
			m.keeps = m.keeps || w.keeps(common, callee)
			set, calls := flagging(callee)
			m.flags = Flags{m.flags.call || calls, m.flags.set || set}
		} else if _, builtin := common.Value.(*ssa.Builtin); !builtin {
			m.values = append(m.values, signatureKey(common.Signature()))
		}
	}
	if store, ok := instr.(*ssa.Store); ok && isUsage(store.Addr) {
		// Parsing may call it.
		m.flags.call = m.flags.call || w.leadsTo(store.Val, w.communicates)
	}
	if boxing, ok := instr.(*ssa.MakeInterface); ok {
		// Code that is not read may call its methods.
		for _, t := range w.inside(boxing.X.Type()) {
			m.communicates = m.communicates || w.hasLoudMethod(t)
			m.boxed = append(m.boxed, w.methodsOf(t)...)
			if _, named := types.Unalias(t).(*types.Named); named {
				m.boxed = append(m.boxed, w.methodsOf(pointerTo(t))...)
			}
		}
	}
}

// hasLoudMethod tells types that are not read and have methods that other goroutines may notice: such
// a method may be called through an interface.
func (w *World) hasLoudMethod(t types.Type) bool {
	loud, known := w.loudTypes[t]
	if known {
		return loud
	}
	set := w.program.MethodSets.MethodSet(t)
	for i := range set.Len() {
		fn := w.program.MethodValue(set.At(i))
		loud = loud || fn != nil && len(fn.Blocks) == 0 && w.isNoticedOutside(fn)
	}
	w.loudTypes[t] = loud
	return loud
}

// directlyCommunicates leaves calls of the packages' own functions to the search.
func (w *World) directlyCommunicates(instr ssa.Instruction) bool {
	if call, ok := instr.(ssa.CallInstruction); ok {
		callee := call.Common().StaticCallee()
		if _, spawns := instr.(*ssa.Go); spawns {
			return true
		}
		if callee != nil {
			return w.isNoticedOutside(callee)
		}
	}
	if _, ok := instr.(*ssa.MakeChan); ok {
		return true
	}
	return w.isNoticed(instr)
}

// implementations lists the methods that a method of an interface may mean.
func (w *World) implementations(invoked Invoked) []*ssa.Function {
	list, known := w.methods[invoked]
	if !known {
		list = w.graph.implementations(w, invoked)
		w.methods[invoked] = list
	}
	return list
}
