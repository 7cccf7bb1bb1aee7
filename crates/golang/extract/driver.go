package main

import (
	"fmt"
	"go/token"
	"go/types"
	"hash/maphash"
	"maps"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Driver turns one entry into nodes by running it: what is known is computed, what other
// goroutines can notice is kept, what is not known becomes a choice. This is Algorithms 1 and 2 of
// Lange et al., ICSE 2018 with the values of variables: a node is the paper's type definition of a block, its
// parameters the channels in scope.
type Driver struct {
	world  *World
	facts  *Facts
	limits Limits

	nodes     []*Node
	byKey     map[digest]*Node
	byPlace   map[string][]*Node
	widened   map[string]*Node
	todo      []*Node
	steps     int
	full      bool // a limit was reached
	changed   bool // a fact was learned: the run has to be repeated
	wanting   bool // numbers are wanted that were not before: the entry has to be begun again
	counted   bool // numbers are kept that may grow
	contexts  map[string]int
	kinds     map[string]string // of runtime variables: chan, mutex, …, int, bool
	keys      map[string]string // of runtime variables that are channels: where their messages are described
	names     map[string]string
	taken     map[string]int
	instances map[string]int

	usesGlobal  map[string]bool
	reached     map[token.Pos]bool
	inexact     map[token.Pos]bool
	assumptions map[string]Note
	loops       map[*ssa.BasicBlock]bool // loops with an exit that is not decided
	liveness    map[*ssa.Function]*Liveness
	loopsOf     map[*ssa.Function]*Loops
	emitted     **Code
	daemon      bool // is what is being written done by a daemon?
	current     *State
	needed      map[*ssa.Global]bool
	flags       Flags
	active      map[*ssa.Function][]bool // of initialisers: the pieces that the entry has a use for
	home        *types.Package           // of the entry
	bubbles     map[*ssa.Function]bool   // functions that testing/synctest runs
	hintNames   map[string]string        // what people call what hints of names stand for
	goNames     map[string]GoName        // what people call objects of the program
	origins     map[string]*Messages     // of variables that hold what was received or read: what is known of it
	fromShared  map[string]bool          // unknowns that were read from memory other goroutines write
	// nativePanics: the last function that was called with known arguments has panicked.
	nativePanics bool
	declared     map[string]bool // unknowns that are variables of packages which are not read
}

// Note is an assumption.
type Note struct {
	pos     token.Pos
	about   About
	subject string
	side    string // over, under, either
}

// Facts are what one run learns for the next: facts only grow, so that runs end.
type Facts struct {
	shared    map[string]bool // parts of memory that are written after other goroutines can see them
	abstract  map[string]bool // of those, the ones that cannot be followed
	messages  map[string]*Messages
	round     int             // how many runs there were before
	begun     int             // how often the entry was begun again
	wanted    map[string]bool // messages whose numbers are used where the program cannot compute with them
	names     map[string]string
	taken     map[string]int
	contexts  map[string]int
	globals   map[string]bool
	access    map[string]*Access
	mapKeys   map[string]map[string]Value // of shared maps: the keys that entries may have
	stopped   map[string]bool             // tickers that are stopped somewhere
	usedConds map[string]bool             // conditions that are used somewhere
	strayed   map[string]bool             // classes of memory that is written through pointers which are not known
	closed    map[string]bool             // messages of channels that are closed somewhere
	signalled map[string]bool             // messages of channels that signalled are asked for
	writers   map[string]map[string]bool  // of cells: the roots that write them
	many      map[string]bool             // roots that are started more than once
	met       map[string]bool             // objects that goroutines know from messages
	doubled   map[string]bool             // types of objects that receivers know by copies
	torn      map[string]bool             // of these types: parts that are written afterwards
	missed    map[*ssa.Global]bool        // package variables that are used although the entry was not seen to reach them
	setsEnv   bool                        // the program sets variables of the environment
}

func newFacts() *Facts {
	return &Facts{
		wanted: map[string]bool{}, shared: map[string]bool{}, abstract: map[string]bool{}, messages: map[string]*Messages{},
		names: map[string]string{}, taken: map[string]int{}, contexts: map[string]int{},
		globals: map[string]bool{}, mapKeys: map[string]map[string]Value{}, access: map[string]*Access{},
		stopped: map[string]bool{}, usedConds: map[string]bool{}, strayed: map[string]bool{}, closed: map[string]bool{}, signalled: map[string]bool{}, writers: map[string]map[string]bool{}, many: map[string]bool{},
		met: map[string]bool{}, doubled: map[string]bool{}, torn: map[string]bool{}, missed: map[*ssa.Global]bool{},
	}
}

// again are the facts for an entry that is begun again with other numbers wanted: what was learned
// without them is forgotten, and what names mean is kept.
func (f *Facts) again() *Facts {
	fresh := newFacts()
	fresh.begun, fresh.wanted = f.begun+1, f.wanted
	fresh.names, fresh.taken, fresh.contexts = f.names, f.taken, f.contexts
	fresh.globals, fresh.missed = f.globals, f.missed
	return fresh
}

func newDriver(world *World, facts *Facts, limits Limits) *Driver {
	return &Driver{
		world: world, facts: facts, limits: limits,
		byKey: map[digest]*Node{}, byPlace: map[string][]*Node{}, widened: map[string]*Node{},
		contexts: facts.contexts, kinds: map[string]string{}, keys: map[string]string{},
		names: facts.names, taken: facts.taken, instances: map[string]int{},
		usesGlobal: facts.globals, reached: map[token.Pos]bool{}, inexact: map[token.Pos]bool{},
		assumptions: map[string]Note{}, fromShared: map[string]bool{}, declared: map[string]bool{}, loops: map[*ssa.BasicBlock]bool{},
		liveness: world.liveness, loopsOf: world.loopsOf,
		bubbles: map[*ssa.Function]bool{}, hintNames: map[string]string{}, goNames: map[string]GoName{}, origins: map[string]*Messages{},
	}
}

// drive runs an entry to a program, again and again until nothing new is learned or there are no
// steps left.
func drive(world *World, entry *ssa.Function, limits Limits) (*Driver, *Node) {
	facts := newFacts()
	reached := world.reaches(entry)
	maps.Copy(facts.missed, reached.used)
	spent := 0
	for round := 0; ; round++ {
		facts.round = round
		d := newDriver(world, facts, limits)
		if len(facts.wanted) > 0 {
			d.limits.steps = min(limits.steps*10, mostStepsWanting)
		}
		d.steps = spent
		d.needed, d.active, d.flags = reached.globals, reached.active, reached.flags
		if entry.Pkg != nil {
			d.home = entry.Pkg.Pkg
		}
		start := d.start(entry)
		d.work()
		spent = d.steps
		if len(facts.missed) > len(reached.used) {
			reached = world.reachesAlso(entry, facts.missed)
		}
		if d.full && len(facts.wanted) > 0 {
			// It fits without these numbers.
			facts, round, spent = facts.again(), -1, 0
			facts.begun, facts.wanted = mostWanting, map[string]bool{}
			continue
		}
		if d.full {
			d.assume(entry.Pos(), "either", aboutTooLarge)
			return d, start
		}
		if d.wanting {
			facts, round = facts.again(), -1
			continue
		}
		if !d.changed {
			return d, start
		}
		if round >= 40 {
			d.assume(entry.Pos(), "either", aboutUnsettled)
			return d, start
		}
	}
}

// start is the node of the entry: package variables are initialised, then the function is called.
func (d *Driver) start(entry *ssa.Function) *Node {
	s := &State{owner: new(owner), heap: map[string]*Object{}, escaped: map[string]bool{}, facts: map[string]bool{}, root: "main", known: d.facts, made: map[string]bool{}}
	head := &Code{op: opSkip}
	d.emitted = &head.next
	s.frames = []*Frame{d.firstFrame(s, entry)}
	inits := d.world.initsOf(entry)
	for i := len(inits) - 1; i >= 0; i-- {
		s.frames = append(s.frames, d.frame(inits[i], nil, nil, nil, d.context(0, inits[i], "init")))
	}
	// Package variables are there before anything runs.
	for _, global := range d.world.globals {
		if d.needed[global] {
			d.global(s, global)
		}
	}
	node := d.nodeFor(s, "main", entry.Pos())
	node.prefix = head.next
	return node
}

// firstFrame is the call of the entry, or of the TestMain that calls it.
func (d *Driver) firstFrame(s *State, entry *ssa.Function) *Frame {
	context := d.context(0, entry, "entry")
	if main := d.world.testMain(entry); main != nil {
		return d.frame(main, []Value{Model{"testmain", []Value{Clo{fn: entry}}}}, nil, nil, context)
	}
	args := make([]Value, len(entry.Params))
	var after []After
	for i, param := range entry.Params {
		if isTesting(param.Type()) && after == nil {
			t := d.newTest(s, "entry", 0, Model{}, KNil{}, d.world.graph.parallel[entry])
			args[i], after = t, testEnds(t, entry.Pos())
			continue
		}
		args[i] = d.fromEnvironment(s, "entry", param, param.Type())
		if mayHoldConcurrency(param.Type(), 3) && !isContext(param.Type()) {
			d.assume(entry.Pos(), "either", aboutParameter, param.Name())
		}
	}
	frame := d.frame(entry, args, nil, nil, context)
	frame.after = after
	return frame
}

// work writes the code of every node that is reached.
func (d *Driver) work() {
	for len(d.todo) > 0 {
		node := d.todo[len(d.todo)-1]
		d.todo = d.todo[:len(d.todo)-1]
		state := node.state.clone()
		state.forked = false
		node.code = d.run(state)
		if node.prefix != nil {
			last(node.prefix).next = node.code
			node.code = node.prefix
		}
	}
}

// context numbers chains of calls.
func (d *Driver) context(below int, at any, extra string) int {
	key := fmt.Sprintf("%d/%p/%s", below, at, extra)
	number, ok := d.contexts[key]
	if !ok {
		number = len(d.contexts) + 1
		d.contexts[key] = number
	}
	return number
}

func (d *Driver) frame(fn *ssa.Function, args, bind []Value, site ssa.Instruction, context int) *Frame {
	f := &Frame{fn: fn, regs: map[ssa.Value]Value{}, site: site, context: context, decided: map[*ssa.BasicBlock]bool{}}
	for i, param := range fn.Params {
		if i < len(args) {
			f.regs[param] = args[i]
		}
	}
	for i, free := range fn.FreeVars {
		if i < len(bind) {
			f.regs[free] = bind[i]
		}
	}
	if len(fn.Blocks) > 0 {
		f.block = fn.Blocks[0]
	}
	return f
}

// run performs a goroutine from a state up to the next places that others lead to as well.
func (d *Driver) run(s *State) *Code {
	head := &Code{op: opSkip}
	saved, daemon := d.emitted, d.daemon
	tail := &head.next
	d.emitted, d.daemon = tail, s.daemon
	s.begun = tail
	for {
		if d.full {
			d.put(&Code{op: opEnd})
			break
		}
		if end := d.advance(s); end {
			break
		}
	}
	d.emitted, d.daemon = saved, daemon
	if head.next == nil {
		return &Code{op: opEnd}
	}
	return head.next
}

// put appends code to what is being written.
func (d *Driver) put(c *Code) *Code {
	c.daemon = c.daemon || d.daemon
	if mayPanic(c) && d.current != nil && d.isRecoverable(d.current) {
		c.recovered = true
	}
	*d.emitted = c
	d.emitted = &c.next
	return c
}

// fork runs a copy of the state as an arm of the code being written.
func (d *Driver) fork(s *State, change func(*State)) *Code {
	copied := s.clone()
	d.steps += (len(s.heap) + len(s.made)) / 8
	saved := d.emitted
	head := &Code{op: opSkip}
	d.emitted = &head.next
	copied.forked = true
	current := d.current
	d.current = copied
	change(copied)
	prefix := head.next
	rest := d.run(copied)
	d.emitted, d.current = saved, current
	if prefix == nil {
		return rest
	}
	last(prefix).next = rest
	return prefix
}

// nodeFor finds or makes the node of a state, generalising it when there are too many of them.
func (d *Driver) nodeFor(s *State, name string, pos token.Pos) *Node {
	node, _ := d.arrive(s, name, pos, d.limits.roots)
	return node
}

// arrive is nodeFor with the values that the node's variables have here.
func (d *Driver) arrive(s *State, name string, pos token.Pos, limit int) (*Node, map[string]*Expr) {
	place := s.place()
	subst := d.normalise(s, place)
	key := digested(d.key(s))
	if node := d.byKey[key]; node != nil {
		return node, subst
	}
	if len(d.byPlace[place]) >= limit {
		var joined map[string]*Expr
		if old := d.widened[place]; old != nil {
			s, joined = d.join(old.state, s, place)
		} else {
			nodes := d.byPlace[place]
			s, joined = d.join(nodes[len(nodes)-1].state, s, place)
		}
		subst = compose2(joined, subst)
		s.multi = true
		key = digested(d.key(s))
		if node := d.byKey[key]; node != nil {
			if d.widened[place] == nil {
				d.widened[place] = node
			}
			return node, subst
		}
	}
	if len(d.nodes) >= d.limits.nodes {
		d.full = true
	}
	node := &Node{id: len(d.nodes), name: name, pos: pos, state: s, place: place}
	if len(d.byPlace[place]) >= limit {
		d.widened[place] = node
		node.widened = true
		if len(d.byPlace[place]) > limit+60 {
			// Joins go up a finite ladder; should one be missing a rung, we end all the same.
			d.full = true
		}
	}
	d.byKey[key] = node
	d.byPlace[place] = append(d.byPlace[place], node)
	d.nodes = append(d.nodes, node)
	d.todo = append(d.todo, node)
	return node, subst
}

// digest stands for the key of a state, which may be long: 128 bits tell states apart.
type digest [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digested(key string) digest {
	return digest{maphash.String(seeds[0], key), maphash.String(seeds[1], key)}
}

// assume notes what was not lowered as it is.
func (d *Driver) assume(pos token.Pos, side string, about About, subject ...string) {
	if pos == token.NoPos {
		pos = d.near()
	}
	what := strings.Join(subject, ", ")
	key := fmt.Sprintf("%d %s %s", pos, about, what)
	d.assumptions[key] = Note{pos, about, what, side}
	d.inexact[pos] = true
}

// near is the place in the source that what happens now comes from.
func (d *Driver) near() token.Pos {
	if d.current == nil {
		return token.NoPos
	}
	for i := len(d.current.frames) - 1; i >= 0; i-- {
		f := d.current.frames[i]
		if f.block == nil {
			continue
		}
		for pc := min(f.pc, len(f.block.Instrs)-1); pc >= 0; pc-- {
			if pos := f.block.Instrs[pc].Pos(); pos != token.NoPos {
				return pos
			}
		}
		if pos := blockPos(f.block); pos != token.NoPos {
			return pos
		}
	}
	return token.NoPos
}

// operation notes that an operation of Go's concurrency is reached.
func (d *Driver) operation(pos token.Pos) { d.reached[pos] = true }

// here names the place of an instruction in its chain of calls.
func here(f *Frame) string { return fmt.Sprintf("%d ", f.context) }

// fresh is the name of a new object: after where it is made, and how many such are alive.
func (d *Driver) fresh(s *State, hint, key string) string {
	base, ok := d.names[key]
	if !ok {
		hint = identifier(hint)
		d.taken[hint]++
		base = hint
		if d.taken[hint] > 1 || strings.HasPrefix(hint, "g_") {
			base = fmt.Sprintf("%s_%d", hint, d.taken[hint])
		}
		d.names[key] = base
	}
	return d.free(s, base)
}

// free is the first name after a base that nothing has which can still be reached.
func (d *Driver) free(s *State, base string) string {
	name := base
	for n := 2; s.heap[name] != nil && d.isReachable(s, name); n++ {
		name = fmt.Sprintf("%s_n%d", base, n)
	}
	return name
}

// identifier makes a name of the language from a Go name.
func identifier(hint string) string {
	var b strings.Builder
	for _, r := range hint {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			b.WriteRune(r)
		}
	}
	name := b.String()
	if name == "" || name == "_" {
		name = "v"
	}
	if name[0] >= '0' && name[0] <= '9' {
		name = "v" + name
	}
	if len(name) > 40 {
		name = name[:40]
	}
	return name
}
