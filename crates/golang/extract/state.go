package main

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Object is a piece of memory, or something that goroutines meet at. States share objects, which are
// therefore replaced and not changed, unless a state owns them.
type Object struct {
	kind  string // "memory", "map", "chan", "mutex", "rwmutex", "waitgroup", "cell", "timer"
	typ   types.Type
	value Value  // of memory; of a lock or channel that no other goroutine sees: its count; of a cell: what this goroutine wrote last
	key   string // of channels and cells: where what is known of messages is kept
	// May there be several objects of this name at once in the program?
	multi bool
	// May a channel turn out to be nil when the program runs?
	nilable bool
	// Maps: entries by the text of their key; keys for ranging.
	entries map[string]Value
	keys    map[string]Value
	blurred bool // not all entries are known
	// The state that alone has the outermost elements or entries and may change them.
	owner *owner
	// Done channels of contexts: those of the ancestors, whether time or a signal may end it, whether an ancestor
	// that is not known may, the cells that say whether it has ended and whether by time, the object
	// that keeps the cause, and the cause if time ends it. A deadline is a time that the program sets.
	ancestors      []Value
	timed, foreign bool
	deadline       bool
	ended, expired string
	cause          string
	late           Value
	signals        []Value // of a channel that signals arrive at: what ends that
	memory         *remembered
	// Shared maps: the cell that keeps others out, and the cells of the entries by key.
	guard string
	cells map[string]string
	from  token.Pos
	room  int    // the capacity of a channel, -1 if it is not known
	shut  bool   // a channel that no other goroutine sees: it is closed
	raw   bool   // memory that is also used through unsafe pointers: its plain data is not followed
	clock string // of the channel of a timer or ticker: which; a message in it means that it runs
}

// Deferred is a call that waits for the end of its function.
type Deferred struct {
	call *ssa.CallCommon
	fn   Value
	args []Value
	pos  token.Pos
}

// After is something to be done when a call returns: what a model does after calling back.
type After struct {
	what string
	args []Value
	pos  token.Pos
}

// Frame is a call in progress.
type Frame struct {
	fn       *ssa.Function
	regs     map[ssa.Value]Value
	block    *ssa.BasicBlock
	pc       int
	defers   []Deferred
	site     ssa.Instruction // the call in the frame below, nil at the bottom
	at       token.Pos       // where it was called, if that is known
	context  int             // which chain of calls led here
	after    []After
	mode     string    // "", "defers": running its deferred calls at return, "panic", "exit", "recovered"
	results  Value     // kept while deferred calls run
	panic    Value     // in mode "panic": its value,
	panicPos token.Pos // and where it began
	exits    bool      // in mode "panic": was the goroutine ending before?
	deferred bool      // is this the call of a deferred function?
	decided  map[*ssa.BasicBlock]bool
	sure     bool // is the next instruction known not to panic?
	rounds   int  // of loops that were performed without a node
	shared   bool // do other states have it too?
}

// owner tells states apart: a state and its copy are new owners, so that neither changes what both
// have.
type owner struct{ _ byte }

// State is what one goroutine knows at one moment.
type State struct {
	owner   *owner
	frames  []*Frame
	heap    map[string]*Object
	escaped map[string]bool
	facts   map[string]bool
	multi   bool // in something that may be repeated without bound
	root    string
	known   *Facts
	daemon  bool            // in a goroutine that the initialisation of a package has started
	made    map[string]bool // the unknowns that have been made on the way here
	holding string          // the shared map that is held for more than one step
	forked  bool            // is this one of several ways since the last node?
	begun   **Code          // where the code of this way begins
}

func (s *State) top() *Frame { return s.own(len(s.frames) - 1) }

// own is a frame that may be changed: one that copies of the state share is copied first.
func (s *State) own(i int) *Frame {
	f := s.frames[i]
	if f.shared {
		copied := *f
		copied.regs = maps.Clone(f.regs)
		copied.defers = append([]Deferred(nil), f.defers...)
		copied.after = append([]After(nil), f.after...)
		copied.decided = maps.Clone(f.decided)
		copied.shared = false
		f = &copied
		s.frames[i] = f
	}
	return f
}

// disown is called when something else begins to share what the state has.
func (s *State) disown() { s.owner = new(owner) }

func (s *State) clone() *State {
	for _, f := range s.frames {
		f.shared = true
	}
	s.disown()
	return &State{
		owner: new(owner), frames: append([]*Frame(nil), s.frames...), heap: maps.Clone(s.heap), escaped: maps.Clone(s.escaped),
		facts: maps.Clone(s.facts), multi: s.multi, root: s.root, known: s.known, daemon: s.daemon, forked: s.forked,
		made: maps.Clone(s.made),
	}
}

// place says where a state stands: which calls are in progress, and where the innermost one is.
func (s *State) place() string {
	top := s.top()
	return fmt.Sprintf("%s|%d|%s|%d|%d", s.root, top.context, top.mode, top.block.Index, top.pc)
}

// roots are the values from which everything that still matters can be reached. The visitor may
// replace them in a state that owns its frames.
func (d *Driver) roots(s *State, visit func(label string, v Value) Value) {
	for i, f := range s.frames {
		live := d.liveAt(f, i == len(s.frames)-1)
		for _, reg := range live {
			if v, ok := f.regs[reg]; ok {
				if w := visit(strconv.Itoa(i)+"."+reg.Name(), v); w != nil {
					f.regs[reg] = w
				}
			}
		}
		for j := range f.defers {
			deferred := &f.defers[j]
			if w := visit(fmt.Sprintf("%d.d%d", i, j), deferred.fn); w != nil {
				deferred.fn = w
			}
			if args, changed := visitAll(fmt.Sprintf("%d.d%d.", i, j), deferred.args, visit); changed {
				deferred.args = args
			}
		}
		for j := range f.after {
			if args, changed := visitAll(fmt.Sprintf("%d.a%d.", i, j), f.after[j].args, visit); changed {
				f.after[j].args = args
			}
		}
		if f.results != nil {
			if w := visit(fmt.Sprintf("%d.r", i), f.results); w != nil {
				f.results = w
			}
		}
		if f.panic != nil {
			if w := visit(fmt.Sprintf("%d.p", i), f.panic); w != nil {
				f.panic = w
			}
		}
	}
}

func visitAll(label string, values []Value, visit func(string, Value) Value) ([]Value, bool) {
	out, changed := append([]Value(nil), values...), false
	for k := range out {
		if w := visit(label+strconv.Itoa(k), out[k]); w != nil {
			out[k], changed = w, true
		}
	}
	return out, changed
}

// isReachable tells whether an object can still be reached.
func (d *Driver) isReachable(s *State, name string) bool {
	if strings.HasPrefix(name, "g_") {
		return true
	}
	seen := map[string]bool{}
	nothing := func(string) {}
	d.roots(s, func(_ string, v Value) Value {
		s.reach(v, seen, nothing)
		return nil
	})
	for _, global := range s.globals() {
		s.reach(Ptr{global, ""}, seen, nothing)
	}
	return seen[name]
}

// reach visits every object that can be reached from a value, parents before children.
func (s *State) reach(v Value, seen map[string]bool, visit func(name string)) {
	if name, ok := objectOf(v); ok {
		s.reachObject(name, seen, visit)
	}
	for _, child := range children(v) {
		s.reach(child, seen, visit)
	}
}

func (s *State) reachObject(name string, seen map[string]bool, visit func(name string)) {
	if seen[name] {
		return
	}
	seen[name] = true
	visit(name)
	o := s.heap[name]
	if o == nil {
		return
	}
	for _, other := range o.references() {
		s.reachObject(other, seen, visit)
	}
	// What is always sent on a channel can be had from it.
	if messages := s.known.messages[o.key]; messages != nil && (o.kind == "chan" || o.kind == "cell") {
		for _, other := range messages.find().objects(s.known.round) {
			if s.heap[other] != nil {
				s.reachObject(other, seen, visit)
			}
		}
	}
}

// remembered is what is computed once of an object. Objects are never changed, so it stays true.
type remembered struct {
	of       *Object
	refs     []string
	written  string   // its content, or what stands for it when it is long
	unknowns []string // the unknowns in its content
	computed bool     // does it hold numbers that the program computes?
}

// longest is how long an object's content may be to stand in keys as it is.
const longest = 64

// references lists the objects that an object refers to.
func (o *Object) references() []string {
	m := o.remember()
	return m.refs
}

func (o *Object) remember() *remembered {
	if o.memory != nil && o.memory.of == o {
		return o.memory
	}
	m := &remembered{of: o}
	collectReferences(o.value, &m.refs)
	for _, key := range sortedKeys(o.entries) {
		collectReferences(o.entries[key], &m.refs)
	}
	for _, key := range sortedKeys(o.keys) {
		collectReferences(o.keys[key], &m.refs)
	}
	for _, ancestor := range o.ancestors {
		collectReferences(ancestor, &m.refs)
	}
	for _, off := range o.signals {
		collectReferences(off, &m.refs)
	}
	for _, other := range []string{o.ended, o.expired, o.cause} {
		if other != "" {
			m.refs = append(m.refs, other)
		}
	}
	if o.guard != "" {
		m.refs = append(m.refs, o.guard)
		for _, key := range sortedKeys(o.cells) {
			m.refs = append(m.refs, o.cells[key])
		}
	}
	var b strings.Builder
	if o.kind != "map" && o.value != nil {
		b.WriteString("=")
		write(&b, o.value)
	}
	if o.shut {
		b.WriteString("shut")
	}
	if o.kind == "map" {
		if o.blurred {
			b.WriteString("~")
		}
		b.WriteString(o.guard)
		for _, key := range sortedKeys(o.entries) {
			b.WriteString("[" + key + "]")
			write(&b, o.entries[key])
		}
	}
	m.written = b.String()
	m.computed = strings.Contains(m.written, "dyn")
	eachUnknown(m.written, func(unknown string) bool { m.unknowns = append(m.unknowns, unknown); return true })
	if len(m.written) > longest {
		// Tables of data are large and hardly ever change.
		m.written = fmt.Sprintf("#%x", digested(m.written))
	}
	o.memory = m
	return m
}

func collectReferences(v Value, refs *[]string) {
	if name, ok := objectOf(v); ok {
		*refs = append(*refs, name)
	}
	for _, child := range children(v) {
		collectReferences(child, refs)
	}
}

// globals are the objects of package variables.
func (s *State) globals() []string {
	var names []string
	for name := range s.heap {
		if strings.HasPrefix(name, "g_") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// key writes everything that still matters; states with equal keys behave equally. What cannot be
// reached any more is removed from the state.
func (d *Driver) key(s *State) string {
	var b strings.Builder
	b.WriteString(s.place())
	if s.multi {
		b.WriteString("*")
	}
	for _, f := range s.frames {
		fmt.Fprintf(&b, "/%p.%d.%d.%s.%t.%t.%t", f.fn, f.block.Index, f.pc, f.mode, f.exits, f.deferred, f.sure)
		for _, a := range f.after {
			b.WriteString("+" + a.what)
		}
	}
	seen := map[string]bool{}
	var order []string
	collect := func(name string) { order = append(order, name) }
	d.roots(s, func(label string, v Value) Value {
		b.WriteString(";" + label + "=")
		write(&b, v)
		s.reach(v, seen, collect)
		return nil
	})
	for _, name := range s.globals() {
		if d.usesGlobal[name] {
			s.reach(Ptr{name, ""}, seen, collect)
		}
	}
	outside := b.Len()
	var unknowns []string
	for _, name := range order {
		o := s.heap[name]
		if o == nil {
			continue
		}
		b.WriteString("\n" + name)
		if s.escaped[name] {
			b.WriteString("!")
		}
		m := o.remember()
		b.WriteString(m.written)
		unknowns = append(unknowns, m.unknowns...)
	}
	written := b.String()
	d.steps += len(written) / 50
	for name := range s.heap {
		if !seen[name] && !strings.HasPrefix(name, "g_") {
			delete(s.heap, name)
			delete(s.escaped, name)
		}
	}
	if len(s.facts) == 0 {
		return written
	}
	tokens := map[string]bool{}
	eachUnknown(written[:outside], func(token string) bool { tokens[token] = true; return true })
	for _, unknown := range unknowns {
		tokens[unknown] = true
	}
	for _, fact := range sortedKeys(s.facts) {
		if eachUnknown(fact, func(token string) bool { return tokens[token] }) {
			fmt.Fprintf(&b, "\n%s:%t", fact, s.facts[fact])
		} else {
			delete(s.facts, fact)
		}
	}
	return b.String()
}

// eachUnknown visits the unknowns in a text, as long as the visitor wants to go on.
func eachUnknown(written string, visit func(string) bool) bool {
	for {
		i := strings.Index(written, "«")
		if i < 0 {
			return true
		}
		j := strings.Index(written[i:], "»")
		if j < 0 || !visit(written[i:i+j]) {
			return j < 0
		}
		written = written[i+j+len("»"):]
	}
}

// retire makes an unknown mean another value from now on: facts about the old one are dropped, and
// values that hold the old one lose their identity.
func (s *State) retire(id string) bool {
	if !s.made[id] {
		s.made[id] = true
		return false
	}
	for fact := range s.facts {
		if strings.Contains(fact, id) {
			delete(s.facts, fact)
		}
	}
	old := "«?»"
	if strings.HasPrefix(id, "«e") {
		old = "«e?»"
	}
	replace := func(v Value) (Value, bool) { return retired(v, id, old) }
	s.replaceIn(replace, func(o *Object) bool { return o.mentions(id) })
	return true
}

// mentions tells whether an object's content depends on an unknown.
func (o *Object) mentions(id string) bool {
	inner := strings.TrimSuffix(id, "»")
	for _, unknown := range o.remember().unknowns {
		if unknown == inner {
			return true
		}
	}
	return false
}

func replaceAll(vs []Value, replace func(Value) (Value, bool)) ([]Value, bool) {
	var out []Value
	for i, v := range vs {
		if now, changed := replace(v); changed {
			if out == nil {
				out = append([]Value(nil), vs...)
			}
			out[i] = now
		}
	}
	return out, out != nil
}

// retired is a value without the identity of an unknown.
func retired(v Value, id, old string) (Value, bool) {
	if sym, ok := v.(Sym); ok {
		if strings.Contains(sym.id, id) {
			return Sym{strings.ReplaceAll(sym.id, id, old)}, true
		}
		return v, false
	}
	if t, ok := v.(Tagged); ok {
		if strings.Contains(t.String(), id) {
			return Sym{old}, true
		}
		return v, false
	}
	if out, changed := replaceAll(children(v), func(v Value) (Value, bool) { return retired(v, id, old) }); changed {
		return rebuild(v, out), true
	}
	return v, false
}
