package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// What a Go programmer calls the goroutines and objects of a program: comes in, what the driver
// notes while it makes them; goes out, Entry.Names. Names are only shown. Nothing depends on them.

// GoName is what an object is called, and where it was made: its own place first, then the calls
// that led there, the innermost first.
type GoName struct {
	text  string
	chain []token.Pos
}

// nameObject notes what people call an object of the program.
func (d *Driver) nameObject(s *State, object, text string, pos token.Pos) {
	if text == "" {
		return
	}
	chain := make([]token.Pos, 1, len(s.frames)+1)
	chain[0] = pos
	for i := len(s.frames) - 1; i >= 0; i-- {
		if site := s.frames[i].site; site != nil {
			chain = append(chain, site.Pos())
		}
	}
	d.goNames[object] = GoName{text, chain}
}

// copied is what people call a copy.
func (n GoName) copied() string {
	if n.text == "" {
		return ""
	}
	return "copy of " + n.text
}

// nameContext names the channel of a context after the context.
func (d *Driver) nameContext(m *modelled, object string) {
	result := 0
	if m.name == "golang.org/x/sync/errgroup.WithContext" {
		result = 1
	}
	name := d.world.goName(m.pos, result)
	if name == "" {
		name = "context"
	}
	d.nameObject(m.s, object, name+".Done()", m.pos)
}

// nameClock names the channel of a timer or ticker after the variable that holds it.
func (d *Driver) nameClock(m *modelled, object string) {
	name := d.world.goName(m.pos, 0)
	switch {
	case m.name == "time.After":
		name = "time.After"
	case name != "":
		name += ".C"
	}
	d.nameObject(m.s, object, name, m.pos)
}

// goNameOf is what people call memory: a lock by the variable or field that it is assigned to, all
// else by its variable or its type.
func (d *Driver) goNameOf(hint string, t types.Type, pos token.Pos) string {
	if name := d.world.goName(pos, 0); name != "" && lockKind(t) != "" {
		return name
	}
	return hint
}

// nameModel names a channel that a model uses after what the model's result is assigned to.
func (d *Driver) nameModel(m *modelled, channel Value, otherwise, part string) {
	name := d.world.goName(m.pos, 0)
	if name == "" {
		name = otherwise
	}
	d.nameObject(m.s, channel.(Ref).object, name+part, m.pos)
}

// goName is what people call a result of the call, or the literal, at a place.
func (w *World) goName(pos token.Pos, result int) string {
	if names := w.goNames[pos]; result < len(names) {
		return names[result]
	}
	return ""
}

// nameInside notes what people call a part of something: hints are names of the program.
func (d *Driver) nameInside(hint, part, text string) {
	if whole := d.hintNames[hint]; whole != "" {
		d.hintNames[part] = whole + text
	}
}

// goFunctionName is what a function is called in a stack trace, without the package if that is the
// one of the entry: `(*Server).loop`, `TestX.func1`, `other.Run`.
func goFunctionName(fn *ssa.Function, home *types.Package) string {
	if fn.Origin() != nil {
		fn = fn.Origin()
	}
	name := fn.Name()
	if parent := fn.Parent(); parent != nil {
		number := name[strings.LastIndexByte(name, '$')+1:]
		if parent.Parent() == nil {
			number = "func" + number
		}
		return goFunctionName(parent, home) + "." + number
	}
	for _, wrapper := range []string{"$bound", "$thunk"} {
		name = strings.TrimSuffix(name, wrapper)
	}
	// There may be several init functions.
	name, _, _ = strings.Cut(name, "#")
	object, _ := fn.Object().(*types.Func)
	pkg := (*types.Package)(nil)
	if object != nil {
		pkg = object.Pkg()
		if receiver := object.Signature().Recv(); receiver != nil {
			if _, pointer := types.Unalias(receiver.Type()).(*types.Pointer); pointer {
				name = fmt.Sprintf("(*%s).%s", baseName(receiver.Type()), name)
			} else {
				name = baseName(receiver.Type()) + "." + name
			}
		}
	} else if fn.Pkg != nil {
		pkg = fn.Pkg.Pkg
	}
	return qualified(pkg, home, name)
}

// qualified is a name with its package, unless that is the one of the entry.
func qualified(pkg, home *types.Package, name string) string {
	if pkg == nil || home == nil || pkg.Path() == home.Path() || pkg.Path()+"_test" == home.Path() {
		return name
	}
	return pkg.Name() + "." + name
}

// collectGoNames remembers what people call the variables and fields that calls and literals
// are assigned to: a channel by its `make`, a context or a timer by the function that makes it.
func (w *World) collectGoNames(file *ast.File, info *types.Info) {
	note := func(right ast.Expr, left ...ast.Expr) {
		pos := madeAt(right)
		if pos == token.NoPos {
			return
		}
		names := make([]string, len(left))
		for i := range left {
			names[i] = expressionName(left[i], info)
		}
		w.goNames[pos] = names
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 {
				note(n.Rhs[0], n.Lhs...)
				return true
			}
			for i := range n.Rhs {
				note(n.Rhs[i], n.Lhs[i])
			}
		case *ast.ValueSpec:
			for i := range min(len(n.Values), len(n.Names)) {
				note(n.Values[i], n.Names[i])
			}
		case *ast.CompositeLit:
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok {
					w.noteField(n, pair, info)
				}
			}
		}
		return true
	})
}

// noteField remembers the field of a struct literal that a call is assigned to.
func (w *World) noteField(literal *ast.CompositeLit, pair *ast.KeyValueExpr, info *types.Info) {
	pos := madeAt(pair.Value)
	key, isField := pair.Key.(*ast.Ident)
	if pos == token.NoPos || !isField || info == nil {
		return
	}
	t := info.TypeOf(literal)
	if t == nil {
		return
	}
	name := key.Name
	if owner := baseName(t); owner != "v" {
		name = owner + "." + name
	}
	w.goNames[pos] = []string{name}
}

// madeAt is the place that SSA gives to what a call or a literal makes.
func madeAt(made ast.Expr) token.Pos {
	switch made := ast.Unparen(made).(type) {
	case *ast.CallExpr:
		return made.Lparen
	case *ast.CompositeLit:
		return made.Lbrace
	case *ast.UnaryExpr:
		if made.Op == token.AND {
			return madeAt(made.X)
		}
	}
	return token.NoPos
}

// expressionName is what people call what is assigned to: a variable, or a field of a type.
func expressionName(left ast.Expr, info *types.Info) string {
	switch l := ast.Unparen(left).(type) {
	case *ast.Ident:
		if l.Name != "_" {
			return l.Name
		}
	case *ast.SelectorExpr:
		if info != nil {
			if t := info.TypeOf(l.X); t != nil && baseName(t) != "v" {
				return baseName(t) + "." + l.Sel.Name
			}
		}
		if id, ok := l.X.(*ast.Ident); ok {
			return id.Name + "." + l.Sel.Name
		}
		return l.Sel.Name
	case *ast.IndexExpr:
		return expressionName(l.X, info)
	}
	return ""
}

// shownNames collects the names of what a program declares, in the order of its text.
type shownNames struct {
	objects   []shownObject
	known     map[string]bool
	functions []shownFunction
}

type shownObject struct {
	identifier string
	name       GoName
}

type shownFunction struct {
	identifier, name string
	pos              token.Pos
}

// object notes that the program declares an object.
func (n *shownNames) object(d *Driver, object, identifier string) {
	name, ok := d.goNames[object]
	if !ok || n.known[identifier] {
		return
	}
	n.known[identifier] = true
	n.objects = append(n.objects, shownObject{identifier, name})
}

// function notes that a goroutine runs a function.
func (n *shownNames) function(d *Driver, fn *ssa.Function, identifier string) {
	if fn == nil || n.known[identifier+"()"] {
		return
	}
	n.known[identifier+"()"] = true
	n.functions = append(n.functions, shownFunction{identifier, goFunctionName(fn, d.home), fn.Pos()})
}

// write fills the names of an entry. What has the name of something else gets a line, what is made
// at the same line a number.
func (n *shownNames) write(e *Entry, place func(token.Pos) Position) {
	e.Names = map[string]string{}
	same := map[string][]shownObject{}
	for _, object := range n.objects {
		same[object.name.text] = append(same[object.name.text], object)
	}
	taken := map[string]int{}
	for _, object := range n.objects {
		name := object.name.text
		if level := telling(same[name], place); level >= 0 && object.name.chain[level] != token.NoPos {
			name += ":" + lineOf(object.name.chain[level], place)
		}
		taken[name]++
		if taken[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, taken[name])
		}
		e.Names[object.identifier] = name
	}
	positions := map[string]map[token.Pos]bool{}
	for _, function := range n.functions {
		if positions[function.name] == nil {
			positions[function.name] = map[token.Pos]bool{}
		}
		positions[function.name][function.pos] = true
	}
	for _, function := range n.functions {
		name := function.name
		if len(positions[name]) > 1 && function.pos != token.NoPos {
			name += ":" + lineOf(function.pos, place)
		}
		e.Names[function.identifier] = name
	}
}

// telling is how far up the calls one has to look to tell most of these objects apart by lines; -1
// if lines do not help.
func telling(objects []shownObject, place func(token.Pos) Position) int {
	best, most := -1, 1
	for level := 0; len(objects) > 1 && level < len(objects[0].name.chain); level++ {
		lines := map[string]bool{}
		for _, object := range objects {
			if level >= len(object.name.chain) {
				return best
			}
			if pos := object.name.chain[level]; pos != token.NoPos {
				lines[lineOf(pos, place)] = true
			}
		}
		if len(lines) > most {
			best, most = level, len(lines)
		}
	}
	return best
}

func lineOf(pos token.Pos, place func(token.Pos) Position) string {
	return fmt.Sprint(place(pos).Line)
}
