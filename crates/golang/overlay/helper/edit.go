// Edits of one file, each found by the syntax tree.

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"sort"
	"strings"
)

// change is a file below GOROOT/src and what is done to it.
type change struct {
	file  string
	edits []edit
}

// edit adds its insertions, or says why it cannot.
type edit interface {
	apply(*source) error
}

// source is a file on its way.
type source struct {
	path       string
	files      *token.FileSet
	tree       *ast.File
	text       []byte
	insertions []insertion
}

// insertion replaces the bytes from at to end, which may be none.
type insertion struct {
	at, end int
	text    string
}

func (c change) apply(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("this version of Go has no %s: %w", c.file, err)
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, path, text, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be parsed: %w", c.file, err)
	}
	s := &source{path: c.file, files: files, tree: tree, text: text}
	for _, e := range c.edits {
		if err := e.apply(s); err != nil {
			return nil, err
		}
	}
	return s.result(), nil
}

func (s *source) result() []byte {
	sort.SliceStable(s.insertions, func(i, j int) bool { return s.insertions[i].at < s.insertions[j].at })
	var out []byte
	last := 0
	for _, one := range s.insertions {
		out = append(out, s.text[last:one.at]...)
		out = append(out, one.text...)
		last = one.end
	}
	return append(out, s.text[last:]...)
}

func (s *source) insert(at token.Pos, text string) {
	offset := s.files.Position(at).Offset
	s.insertions = append(s.insertions, insertion{offset, offset, text})
}

func (s *source) replace(node ast.Node, text string) {
	at, end := s.files.Position(node.Pos()).Offset, s.files.Position(node.End()).Offset
	s.insertions = append(s.insertions, insertion{at, end, text})
}

func (s *source) missing(what string) error {
	return fmt.Errorf("this version of Go does not fit: %s has no %s that Strait knows", s.path, what)
}

// function finds `name` or `(*T).name`.
func (s *source) function(name string) (*ast.FuncDecl, error) {
	receiver, plain := "", name
	if dot := strings.LastIndex(name, ")."); dot >= 0 {
		receiver, plain = name[1:dot], name[dot+2:]
	}
	for _, declaration := range s.tree.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Name.Name != plain || function.Body == nil {
			continue
		}
		found := ""
		if function.Recv != nil {
			found = types.ExprString(function.Recv.List[0].Type)
		}
		if found == receiver {
			return function, nil
		}
	}
	return nil, s.missing("function " + name)
}

// entry is code at the beginning of a function.
type entry struct{ name, code string }

func (e entry) apply(s *source) error {
	function, err := s.function(e.name)
	if err != nil {
		return err
	}
	s.insert(function.Body.Lbrace+1, " "+e.code+";")
	return nil
}

// exit is code at the end of a function that nowhere returns.
type exit struct{ name, code string }

func (e exit) apply(s *source) error {
	function, err := s.function(e.name)
	if err != nil {
		return err
	}
	if len(returns(function.Body)) > 0 {
		return s.missing("function " + e.name + " without return")
	}
	s.insert(function.Body.Rbrace, "; "+e.code+" ")
	return nil
}

// beforeReturn is code before the one return at the end of a function.
type beforeReturn struct{ name, code string }

func (e beforeReturn) apply(s *source) error {
	function, err := s.function(e.name)
	if err != nil {
		return err
	}
	all := returns(function.Body)
	last := function.Body.List[len(function.Body.List)-1]
	if len(all) != 1 || all[0] != last {
		return s.missing("function " + e.name + " with a single return")
	}
	s.insert(last.Pos(), e.code+"; ")
	return nil
}

// returns are the return statements of a body, those of function literals excepted.
func returns(body *ast.BlockStmt) (all []ast.Stmt) {
	ast.Inspect(body, func(node ast.Node) bool {
		if statement, ok := node.(*ast.ReturnStmt); ok {
			all = append(all, statement)
		}
		_, literal := node.(*ast.FuncLit)
		return !literal
	})
	return all
}

// beforeCall is code before the call that ends a function.
type beforeCall struct{ name, callee, code string }

func (e beforeCall) apply(s *source) error {
	function, err := s.function(e.name)
	if err != nil {
		return err
	}
	last := function.Body.List[len(function.Body.List)-1]
	if statement, ok := last.(*ast.ExprStmt); ok {
		if call, ok := statement.X.(*ast.CallExpr); ok && types.ExprString(call.Fun) == e.callee {
			s.insert(last.Pos(), e.code+"; ")
			return nil
		}
	}
	return s.missing("function " + e.name + " that ends with a call of " + e.callee)
}

// beforeStatement is code before a statement that is known by its text.
type beforeStatement struct{ name, known, code string }

func (e beforeStatement) apply(s *source) error {
	function, err := s.function(e.name)
	if err != nil {
		return err
	}
	found := false
	ast.Inspect(function.Body, func(node ast.Node) bool {
		if statement, ok := node.(ast.Stmt); ok && textOf(statement) == e.known {
			s.insert(statement.Pos(), e.code+"; ")
			found = true
		}
		return true
	})
	if !found {
		return s.missing(e.known + " in " + e.name)
	}
	return nil
}

// textOf is the text of a call or of an assignment of one value.
func textOf(statement ast.Stmt) string {
	switch statement := statement.(type) {
	case *ast.ExprStmt:
		return types.ExprString(statement.X)
	case *ast.AssignStmt:
		if len(statement.Lhs) == 1 && len(statement.Rhs) == 1 {
			left, right := types.ExprString(statement.Lhs[0]), types.ExprString(statement.Rhs[0])
			return left + " " + statement.Tok.String() + " " + right
		}
	}
	return ""
}

// rename gives a function another name.
type rename struct{ name, to string }

func (e rename) apply(s *source) error {
	function, err := s.function(e.name)
	if err != nil {
		return err
	}
	s.replace(function.Name, e.to)
	return nil
}

// substitute replaces a name in a function.
type substitute struct{ name, from, to string }

func (e substitute) apply(s *source) error {
	function, err := s.function(e.name)
	if err != nil {
		return err
	}
	found := false
	ast.Inspect(function.Body, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok && name.Name == e.from {
			s.replace(name, e.to)
			found = true
		}
		return true
	})
	if !found {
		return s.missing(e.from + " in " + e.name)
	}
	return nil
}

// condition adds a further condition to an if statement that is known by its own.
type condition struct{ name, known, further string }

func (e condition) apply(s *source) error {
	function, err := s.function(e.name)
	if err != nil {
		return err
	}
	found := false
	ast.Inspect(function.Body, func(node ast.Node) bool {
		if branch, ok := node.(*ast.IfStmt); ok && types.ExprString(branch.Cond) == e.known {
			s.insert(branch.Cond.End(), " && "+e.further)
			found = true
		}
		return true
	})
	if !found {
		return s.missing("if " + e.known + " in " + e.name)
	}
	return nil
}

// ifPresent is an edit of a function that not all versions have.
type ifPresent struct {
	name string
	edit edit
}

func (e ifPresent) apply(s *source) error {
	if _, err := s.function(e.name); err != nil {
		return nil
	}
	return e.edit.apply(s)
}

// field is a new last field of a struct.
type field struct{ name, code string }

func (e field) apply(s *source) error {
	structure := structure(s.tree, e.name)
	if structure == nil {
		return s.missing("struct " + e.name)
	}
	s.insert(structure.Fields.Closing, e.code+" ")
	return nil
}

func structure(tree *ast.File, name string) *ast.StructType {
	for _, declaration := range tree.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			if one, ok := spec.(*ast.TypeSpec); ok && one.Name.Name == name {
				found, _ := one.Type.(*ast.StructType)
				return found
			}
		}
	}
	return nil
}

// needs is an import that the inserted code uses.
type needs struct{ path string }

func (e needs) apply(s *source) error {
	has := slices.ContainsFunc(s.tree.Imports, func(one *ast.ImportSpec) bool {
		return one.Path.Value == `"`+e.path+`"` && (one.Name == nil || one.Name.Name != "_")
	})
	if !has {
		s.insert(s.tree.Name.End(), fmt.Sprintf("; import %q", e.path))
	}
	return nil
}
