package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
)

// Loaded is the packages that were named and everything they import. Which functions have bodies
// does not depend on what was named: every package outside the standard library is read, and so are
// the packages of the standard library in `readable`.
type Loaded struct {
	fset  *token.FileSet
	all   []*packages.Package // imported ones first
	named map[*packages.Package]bool
	read  map[*packages.Package]bool
}

// readable are the packages of the standard library whose sources are followed: they call back
// functions and methods that they are given, and do nothing that needs the runtime.
var readable = map[string]bool{
	"bufio": true, "bytes": true, "cmp": true, "container/heap": true, "container/list": true, "container/ring": true,
	"errors": true, "io": true, "iter": true, "maps": true, "slices": true, "sort": true, "strings": true,
	"text/tabwriter": true, "unicode/utf8": true,
}

// mostSource is how many bytes of source of other modules are read. Packages beyond that are not
// followed, and calls of their functions are assumptions.
const mostSource = 16 << 20

// load lists the packages with the user's go and checks their types.
func load(options *Options) (*Loaded, error) {
	fset := token.NewFileSet()
	config := &packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypesSizes | packages.NeedModule,
		Fset:  fset,
		Tests: !options.noTests,
		// Without export data the declarations of dependencies are read from their sources. That
		// takes seconds; compiling everything for its export data takes minutes the first time.
		BuildFlags: []string{"-export=false"},
	}
	if options.tags != "" {
		config.BuildFlags = append(config.BuildFlags, "-tags="+options.tags)
	}
	roots, err := packages.Load(config, options.patterns...)
	if err != nil {
		return nil, err
	}
	l := &Loaded{fset: fset, named: map[*packages.Package]bool{}, read: map[*packages.Package]bool{}}
	for _, p := range roots {
		// The generated main of a test binary is of no interest.
		if !strings.HasSuffix(p.ID, ".test") {
			l.named[p] = true
		}
	}
	var first []*packages.Package
	for _, p := range roots {
		if l.named[p] {
			first = append(first, p)
		}
	}
	packages.Visit(first, nil, func(p *packages.Package) { l.all = append(l.all, p) })
	l.choose()
	l.check()
	return l, nil
}

// choose decides which packages are read.
func (l *Loaded) choose() {
	source := int64(0)
	for _, p := range l.all {
		if l.named[p] || isOwn(p) {
			l.read[p] = true
		} else if p.Module == nil {
			l.read[p] = readable[p.PkgPath]
		} else if !isModelledModule(p.PkgPath) {
			l.read[p] = true
			source += sizeOf(p)
		}
	}
	if source <= mostSource {
		return
	}
	for _, p := range l.all {
		if !l.named[p] && !isOwn(p) && p.Module != nil {
			delete(l.read, p)
		}
	}
}

// isOwn tells packages of the modules that are being worked on.
func isOwn(p *packages.Package) bool { return p.Module != nil && p.Module.Main }

// isModelledModule tells packages outside the standard library that this program models.
func isModelledModule(path string) bool {
	return path == errgroupPackage || path == semaphorePackage || strings.HasPrefix(path, testifyModule)
}

func sizeOf(p *packages.Package) int64 {
	size := int64(0)
	for _, file := range p.CompiledGoFiles {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}

// check parses the packages and checks their types, several at a time, imported ones first.
func (l *Loaded) check() {
	done := map[*packages.Package]chan struct{}{}
	for _, p := range l.all {
		done[p] = make(chan struct{})
	}
	places := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, p := range l.all {
		go func() {
			defer close(done[p])
			for _, imported := range p.Imports {
				if wait := done[imported]; wait != nil {
					<-wait
				}
			}
			places <- struct{}{}
			l.checkOne(p)
			<-places
		}()
	}
	for _, p := range l.all {
		<-done[p]
	}
}

// checkOne parses one package and checks its types; bodies of functions only if it is read.
func (l *Loaded) checkOne(p *packages.Package) {
	p.Fset = l.fset
	if p.PkgPath == "unsafe" {
		p.Types = types.Unsafe
		return
	}
	var mutex sync.Mutex
	note := func(err error) {
		var found packages.Error
		switch err := err.(type) {
		case types.Error:
			found = packages.Error{Pos: l.fset.Position(err.Pos).String(), Msg: err.Msg, Kind: packages.TypeError}
		default:
			found = packages.Error{Pos: "-", Msg: err.Error(), Kind: packages.ParseError}
		}
		mutex.Lock()
		p.Errors = append(p.Errors, found)
		mutex.Unlock()
	}
	var files []*ast.File
	for _, name := range p.CompiledGoFiles {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		file, err := parser.ParseFile(l.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			note(err)
		}
		if file != nil {
			files = append(files, file)
		}
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}
	if !l.read[p] {
		info = nil
	}
	config := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if path == "unsafe" {
				return types.Unsafe, nil
			}
			if imported := p.Imports[path]; imported != nil && imported.Types != nil {
				return imported.Types, nil
			}
			return nil, fmt.Errorf("no package %q was loaded", path)
		}),
		Sizes: p.TypesSizes, IgnoreFuncBodies: !l.read[p], FakeImportC: true, Error: note,
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	before := len(p.Errors)
	p.Types = types.NewPackage(p.PkgPath, p.Name)
	checker := types.NewChecker(&config, l.fset, p.Types, info)
	_ = checker.Files(files) // what is wrong has been noted
	if l.read[p] {
		p.Syntax, p.TypesInfo = files, info
	} else {
		p.Errors = p.Errors[:before]
	}
	p.IllTyped = len(p.Errors) > 0
}

// importer is a function that finds packages.
type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

// usable lists the packages that are read and compile; what does not is a warning, or an error if
// nothing is left.
func (l *Loaded) usable(answer *Answer) []*packages.Package {
	var usable []*packages.Package
	var failures []error
	named := 0
	for _, p := range l.all {
		if !l.read[p] {
			continue
		}
		if len(p.Errors) > 0 {
			if l.named[p] || isOwn(p) {
				failures = append(failures, withoutDash(p.Errors[0]))
			}
			continue
		}
		if l.named[p] {
			named++
		}
		usable = append(usable, p)
	}
	if named == 0 {
		if len(failures) > 0 {
			answer.Error = errors.Join(failures...).Error() + "; make `go build` and `go vet` succeed first"
		}
		return nil
	}
	for _, failure := range failures {
		answer.Warnings = append(answer.Warnings, Assumption{nil, aboutLeftOutPackage, failure.Error(), "under"})
	}
	return usable
}

// withoutDash is an error without the dash that stands for a place that is not known.
func withoutDash(e packages.Error) error {
	if e.Pos == "" || e.Pos == "-" {
		return errors.New(e.Msg)
	}
	return e
}
