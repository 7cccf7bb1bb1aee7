package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
)

// World is the packages as they were loaded.
type World struct {
	program    *ssa.Program
	packages   []*packages.Package
	roots      map[*ssa.Package]bool
	ordered    []*ssa.Package // roots, imported ones first
	liveness   map[*ssa.Function]*Liveness
	loopsOf    map[*ssa.Function]*Loops
	graph      *Graph
	graphTaken map[*ssa.Function]bool // functions that are values somewhere
	relevance  *Relevance
	sizes      types.Sizes
	invokes    map[Invoked]bool
	still      map[*ssa.Function]bool
	silences   map[*ssa.Function]*Silence // nil if it is not silent
	pieces     map[*ssa.Function]*Pieces
	touching   map[*ssa.Global][]*Piece
	lazy       map[*ssa.Global]bool // variables whose initialisation is large: it is left out until one is used
	mentions   map[*ssa.Function]*Mentions
	methods    map[Invoked][]*ssa.Function
	regions    map[*ssa.BasicBlock]*Region
	starts     map[*ssa.Package]bool // where entries are looked for
	variant    map[*ssa.Package]bool // packages together with their tests, which are there without as well
	names      map[token.Pos]string
	goNames    map[token.Pos][]string // what people call what is made
	globals    []*ssa.Global          // of the roots, in the order of their packages and names
	noticed    map[types.Type][]*ssa.Function
	insides    map[types.Type][]types.Type
	loudTypes  map[types.Type]bool
	holding    map[[2]types.Type]bool // does memory of the first type hold memory of the second?
	// uncomparable tells whether interfaces of a type may hold values that have no comparison.
	uncomparable    map[types.Type]bool
	linked          map[string]bool // functions and variables, with their packages, that directives link
	callingAssembly map[string]bool // packages whose assembly calls functions
	// calledBack are the names of methods that code which is not read may call on what it is given.
	calledBack map[string]bool
	reached    *sync.Map // *ssa.Function to reached: what `reaches` has found, for all workers
}

// copy is the same world for another worker: what is remembered is not shared.
func (w *World) copy() *World {
	copied := *w
	copied.liveness, copied.loopsOf = map[*ssa.Function]*Liveness{}, map[*ssa.Function]*Loops{}
	copied.invokes = map[Invoked]bool{}
	copied.still, copied.regions = map[*ssa.Function]bool{}, map[*ssa.BasicBlock]*Region{}
	copied.noticed, copied.insides = map[types.Type][]*ssa.Function{}, map[types.Type][]types.Type{}
	copied.holding, copied.uncomparable = map[[2]types.Type]bool{}, map[types.Type]bool{}
	copied.loudTypes, copied.silences = map[types.Type]bool{}, map[*ssa.Function]*Silence{}
	copied.mentions, copied.methods = map[*ssa.Function]*Mentions{}, map[Invoked][]*ssa.Function{}
	return &copied
}

func newWorld(program *ssa.Program, loaded []*packages.Package, roots []*ssa.Package) *World {
	w := &World{
		program: program, packages: loaded, roots: map[*ssa.Package]bool{},
		liveness: map[*ssa.Function]*Liveness{}, loopsOf: map[*ssa.Function]*Loops{},
		invokes: map[Invoked]bool{}, still: map[*ssa.Function]bool{}, silences: map[*ssa.Function]*Silence{},
		mentions: map[*ssa.Function]*Mentions{}, pieces: map[*ssa.Function]*Pieces{}, methods: map[Invoked][]*ssa.Function{}, regions: map[*ssa.BasicBlock]*Region{}, names: map[token.Pos]string{}, goNames: map[token.Pos][]string{},
		insides: map[types.Type][]types.Type{}, loudTypes: map[types.Type]bool{}, holding: map[[2]types.Type]bool{}, uncomparable: map[types.Type]bool{}, reached: &sync.Map{}, variant: map[*ssa.Package]bool{},
	}
	for _, root := range roots {
		if root == nil || w.roots[root] {
			continue
		}
		w.roots[root] = true
	}
	seen := map[*types.Package]bool{}
	var visit func(p *types.Package)
	visit = func(p *types.Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		for _, imported := range p.Imports() {
			visit(imported)
		}
		if s := program.Package(p); s != nil && w.roots[s] {
			w.ordered = append(w.ordered, s)
		}
	}
	for _, root := range roots {
		if root != nil {
			visit(root.Pkg)
		}
	}
	for _, p := range w.ordered {
		for _, name := range sortedKeys(p.Members) {
			if global, ok := p.Members[name].(*ssa.Global); ok {
				w.globals = append(w.globals, global)
			}
		}
	}
	for _, p := range loaded {
		w.sizes = p.TypesSizes
		for _, file := range p.Syntax {
			w.collectNames(file)
			w.collectGoNames(file, p.TypesInfo)
		}
	}
	w.collectLinks(loaded)
	w.calledBack = w.namesCalledBack()
	w.graph = newGraph(w)
	w.linkInits()
	return w
}

// startsIn says in which packages entries are looked for.
func (w *World) startsIn(loaded *Loaded) {
	w.starts = map[*ssa.Package]bool{}
	for p := range loaded.named {
		if p.Types == nil {
			continue
		}
		if s := w.program.Package(p.Types); s != nil && w.roots[s] {
			w.starts[s] = true
			w.variant[s] = strings.Contains(p.ID, " [") && !strings.HasSuffix(p.PkgPath, "_test")
		}
	}
}

// collectNames remembers what variables and fields are called that a `make` is assigned to.
func (w *World) collectNames(file *ast.File) {
	note := func(left, right ast.Expr) {
		call, ok := right.(*ast.CallExpr)
		if !ok {
			return
		}
		switch l := left.(type) {
		case *ast.Ident:
			w.names[call.Lparen] = l.Name
		case *ast.SelectorExpr:
			w.names[call.Lparen] = l.Sel.Name
		case *ast.IndexExpr:
			if id, ok := l.X.(*ast.Ident); ok {
				w.names[call.Lparen] = id.Name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range n.Lhs {
				if len(n.Rhs) == len(n.Lhs) {
					note(n.Lhs[i], n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i := range n.Names {
				if i < len(n.Values) {
					note(n.Names[i], n.Values[i])
				}
			}
		case *ast.KeyValueExpr:
			note(n.Key, n.Value)
		}
		return true
	})
}

// nameAt is the Go name of what an instruction makes.
func (w *World) nameAt(v ssa.Value) string {
	if name, ok := w.names[v.Pos()]; ok && name != "_" {
		return name
	}
	return "ch"
}

func (w *World) isRoot(p *ssa.Package) bool { return p != nil && w.roots[p] }

// initsOf lists the initialisers that run before an entry: those of its package and of the root
// packages it imports.
func (w *World) initsOf(entry *ssa.Function) []*ssa.Function {
	needed := map[*types.Package]bool{}
	var visit func(p *types.Package)
	visit = func(p *types.Package) {
		if needed[p] {
			return
		}
		needed[p] = true
		if isModelledModule(p.Path()) {
			// A model stands for it and for what it needs.
			return
		}
		for _, imported := range p.Imports() {
			visit(imported)
		}
	}
	if entry.Pkg == nil {
		return nil
	}
	visit(entry.Pkg.Pkg)
	var inits []*ssa.Function
	for _, p := range w.ordered {
		if needed[p.Pkg] && !isModelledModule(p.Pkg.Path()) {
			if init := p.Func("init"); init != nil && len(init.Blocks) > 0 {
				inits = append(inits, init)
			}
		}
	}
	return inits
}

// method finds the method of a type that a call of an interface's method leads to.
func (w *World) method(t types.Type, method *types.Func) *ssa.Function {
	selection := w.program.MethodSets.MethodSet(t).Lookup(method.Pkg(), method.Name())
	if selection == nil {
		return nil
	}
	return w.program.MethodValue(selection)
}

// lockKind names the types that goroutines meet at, or that models stand for.
func lockKind(t types.Type) string {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	switch named.Obj().Pkg().Path() {
	case "sync":
		switch named.Obj().Name() {
		case "Mutex":
			return "mutex"
		case "RWMutex":
			return "rwmutex"
		case "WaitGroup":
			return "waitgroup"
		case "Once":
			return "once"
		case "Cond":
			return "cond"
		case "Map":
			return "syncmap"
		}
	case "golang.org/x/sync/errgroup":
		if named.Obj().Name() == "Group" {
			return "errgroup"
		}
	case semaphorePackage:
		if named.Obj().Name() == "Weighted" {
			return "semaphore"
		}
	case "sync/atomic":
		return "atomic"
	}
	return ""
}

func atomicZero(t types.Type) Value {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return KNil{}
	}
	switch named.Obj().Name() {
	case "Bool":
		return KBool(false)
	case "Int32", "Int64", "Uint32", "Uint64", "Uintptr":
		return KInt(0)
	}
	return KNil{}
}

// holdsConcurrency tells whether values of a type are or hold channels, locks or wait groups,
// pointers not followed.
func holdsConcurrency(t types.Type) bool { return holds(t, 0, deepestNesting) }

// deepestNesting is how deep structs and arrays inside each other are looked into.
const deepestNesting = 24

// mayHoldConcurrency follows pointers and collections as well.
func mayHoldConcurrency(t types.Type, depth int) bool { return holds(t, depth, deepestNesting) }

func holds(t types.Type, pointers, depth int) bool {
	if t == nil || depth == 0 {
		return false
	}
	switch lockKind(t) {
	case "atomic":
		return false
	case "":
	default:
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Chan:
		return true
	case *types.Struct:
		for i := range u.NumFields() {
			if holds(u.Field(i).Type(), pointers, depth-1) {
				return true
			}
		}
	case *types.Array:
		return holds(u.Elem(), pointers, depth-1)
	case *types.Pointer:
		return pointers > 0 && holds(u.Elem(), pointers-1, depth-1)
	case *types.Slice:
		return pointers > 0 && holds(u.Elem(), pointers-1, depth-1)
	case *types.Map:
		return pointers > 0 && (holds(u.Elem(), pointers-1, depth-1) || holds(u.Key(), pointers-1, depth-1))
	case *types.Tuple:
		for i := range u.Len() {
			if holds(u.At(i).Type(), pointers, depth-1) {
				return true
			}
		}
	}
	return false
}

// mayHoldChannel tells whether a result is a channel, alone or among others.
func mayHoldChannel(t types.Type) bool {
	switch u := t.(type) {
	case nil:
		return false
	case *types.Tuple:
		for i := range u.Len() {
			if mayHoldChannel(u.At(i).Type()) {
				return true
			}
		}
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

func isTesting(t types.Type) bool {
	name := typeName(t)
	return strings.HasPrefix(name, "*testing.") || name == "testing.TB"
}

func isContext(t types.Type) bool { return typeName(t) == "context.Context" }
