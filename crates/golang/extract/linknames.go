package main

import (
	"os"
	"regexp"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
)

// Directives and assembly of the packages that are read may give a name to something that Go's source
// does not show: a function without a body may be any other one, and two variables may be one.

// linkname is a directive: the name in the package, and the name elsewhere, which may be missing.
var linkname = regexp.MustCompile(`(?m)^//go:linkname[ \t]+(\S+)(?:[ \t]+(\S+))?`)

// calls is an instruction of assembly that calls a function.
var calls = regexp.MustCompile(`(?m)^\s*(CALL|BL|JAL|CALLIND)\b`)

// collectLinks finds the names that directives link, and the packages whose assembly calls functions.
// The standard library's own are about the runtime.
func (w *World) collectLinks(loaded []*packages.Package) {
	w.linked, w.callingAssembly = map[string]bool{}, map[string]bool{}
	for _, p := range loaded {
		if p.Module == nil {
			continue
		}
		for _, name := range p.CompiledGoFiles {
			text, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			for _, found := range linkname.FindAllSubmatch(text, -1) {
				w.linked[p.PkgPath+"."+string(found[1])] = true
				if remote := string(found[2]); remote != "" {
					w.linked[remote] = true
				}
			}
		}
		for _, name := range p.OtherFiles {
			if !strings.HasSuffix(name, ".s") {
				continue
			}
			if text, err := os.ReadFile(name); err != nil || calls.Match(text) {
				w.callingAssembly[p.PkgPath] = true
			}
		}
	}
}

// isLinked tells functions and variables that a directive links with others.
func (w *World) isLinked(member ssa.Member) bool {
	if member.Package() == nil {
		return false
	}
	return w.linked[member.Package().Pkg.Path()+"."+member.Name()]
}

// isAssembly tells functions without a body that cannot call anything.
func (w *World) isAssembly(fn *ssa.Function) bool {
	return fn.Pkg != nil && w.roots[fn.Pkg] && len(fn.Blocks) == 0 && fn.Synthetic == "" && !w.isLinked(fn) && !w.callingAssembly[fn.Pkg.Pkg.Path()]
}
