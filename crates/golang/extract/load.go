package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// extract loads the packages and turns every entry into a program.
func extract(options *Options) Answer {
	answer := Answer{Entries: []Entry{}, Warnings: []Assumption{}}
	loaded, err := load(options)
	if err != nil {
		answer.Error = err.Error()
		return answer
	}
	place := func(pos token.Pos) Position { return position(loaded.fset, pos, options.folder) }
	usable := loaded.usable(&answer)
	if len(usable) == 0 && answer.Error == "" {
		answer.Error = "no packages match " + strings.Join(options.patterns, " ") + "; name packages as `go list` does"
	}
	if answer.Error != "" {
		return answer
	}
	for _, p := range usable {
		if loaded.named[p] && !strings.Contains(p.ID, " [") {
			for _, file := range p.Syntax {
				answer.Lines += loaded.fset.File(file.Pos()).LineCount()
			}
		}
	}
	program, roots := ssautil.Packages(usable, ssa.InstantiateGenerics)
	program.Build()
	world := newWorld(program, usable, roots)
	world.startsIn(loaded)
	entries := world.entries(options, &answer)
	answer.Entries = world.all(entries, place)
	return answer
}

// all turns entries into programs: cheap ones first, the others with what steps are left.
func (w *World) all(entries []*ssa.Function, place func(token.Pos) Position) []Entry {
	done := make([]Entry, len(entries))
	open := make([]int, len(entries))
	for i := range open {
		open[i] = i
	}
	// Each worker has a world of its own, in which it remembers what it has worked out.
	workers := make([]*World, max(1, min(runtime.GOMAXPROCS(0), len(entries))))
	for i := range workers {
		workers[i] = w.copy()
	}
	all := allSteps(len(entries))
	left, before, given := all, 0, 0
	// try gives some entries this many steps, or what is left for each, and returns those that did not fit.
	try := func(which []int, steps, least int) []int {
		if before > 0 {
			steps = min(steps, max(left, least)/max(len(which), 1))
			if steps < 2*before {
				return which
			}
		}
		given = max(given, steps)
		results := attempt(workers, entries, which, exactly(steps), place)
		var again []int
		for k, i := range which {
			left -= results[k].steps
			done[i] = results[k].entry
			if results[k].full {
				again = append(again, i)
			}
		}
		return again
	}
	for _, steps := range passes {
		// Entries of which something can still be proved come first. A few that are left may go on even
		// if the others have used up everything.
		first, others := partition(open, func(i int) bool { return before == 0 || mayBeProved(&done[i]) })
		open = append(try(first, steps, all/4), try(others, steps, all/8)...)
		before = given
	}
	slices.Sort(open)
	for _, limits := range roughly(max(2_000, min(60_000, max(left, all/4)/max(2*len(open), 1)))) {
		results := attempt(workers, entries, open, limits, place)
		var again []int
		for k, i := range open {
			done[i] = results[k].entry
			if results[k].full {
				again = append(again, i)
			}
		}
		open = again
	}
	return done
}

// partition parts entries into those that have a property and the others.
func partition(which []int, has func(int) bool) (with, without []int) {
	for _, i := range which {
		if has(i) {
			with = append(with, i)
		} else {
			without = append(without, i)
		}
	}
	return with, without
}

// mayBeProved tells whether an entry that did not fit rests on nothing else so far that forbids a
// proof.
func mayBeProved(e *Entry) bool {
	return !slices.ContainsFunc(e.Assumptions, func(a Assumption) bool {
		if a.About == aboutTooLarge {
			return false
		}
		return a.Approximation != "over"
	})
}

// attempted is what one attempt at an entry yields.
type attempted struct {
	entry Entry
	steps int
	full  bool
}

// attempt extracts some entries, several at a time.
func attempt(workers []*World, entries []*ssa.Function, which []int, limits Limits, place func(token.Pos) Position) []attempted {
	results := make([]attempted, len(which))
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, world := range workers {
		wg.Go(func() {
			for {
				k := int(next.Add(1)) - 1
				if k >= len(which) {
					return
				}
				results[k] = world.entry(entries[which[k]], limits, place)
			}
		})
	}
	wg.Wait()
	return results
}

func position(fset *token.FileSet, pos token.Pos, folder string) Position {
	p := fset.Position(pos)
	file := p.Filename
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved
	}
	if relative, err := filepath.Rel(folder, file); err == nil && !strings.HasPrefix(relative, "..") {
		file = relative
	}
	return Position{File: file, Line: p.Line, Column: p.Column}
}

// entries finds the functions to start from.
func (w *World) entries(options *Options, answer *Answer) []*ssa.Function {
	var found []*ssa.Function
	matched := map[string]bool{}
	add := func(fn *ssa.Function) {
		if fn == nil || len(fn.Blocks) == 0 {
			return
		}
		if w.variant[fn.Pkg] && !strings.HasSuffix(w.program.Fset.Position(fn.Pos()).Filename, "_test.go") {
			// The package is there without its tests as well.
			return
		}
		if len(options.entries) == 0 {
			if isMain(fn) || isTest(fn) {
				found = append(found, fn)
			}
			return
		}
		for _, name := range options.entries {
			if prefix, ok := strings.CutSuffix(name, "*"); ok && strings.HasPrefix(fn.Name(), prefix) || fn.Name() == name || fn.String() == name || goFunctionName(fn, fn.Pkg.Pkg) == name {
				matched[name] = true
				found = append(found, fn)
				return
			}
		}
	}
	for _, p := range w.ordered {
		if !w.starts[p] {
			continue
		}
		for _, name := range sortedKeys(p.Members) {
			switch member := p.Members[name].(type) {
			case *ssa.Function:
				add(member)
			case *ssa.Type:
				if len(options.entries) > 0 {
					w.addMethods(member, add)
				}
			}
		}
	}
	for _, name := range options.entries {
		if !matched[name] {
			answer.Warnings = append(answer.Warnings, Assumption{nil, aboutNoSuchFunction, name, "under"})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Pos() < found[j].Pos() })
	return found
}

func (w *World) addMethods(t *ssa.Type, add func(*ssa.Function)) {
	set := w.program.MethodSets.MethodSet(pointerTo(t.Type()))
	for i := range set.Len() {
		if fn := w.program.MethodValue(set.At(i)); fn != nil && fn.Synthetic == "" && fn.Pkg != nil {
			add(fn)
		}
	}
}

func isMain(fn *ssa.Function) bool {
	return fn.Name() == "main" && fn.Pkg.Pkg.Name() == "main" && fn.Signature.Recv() == nil
}

func isTest(fn *ssa.Function) bool {
	rest, ok := strings.CutPrefix(fn.Name(), "Test")
	if !ok || fn.Signature.Recv() != nil || fn.Signature.Params().Len() != 1 || rest != "" && !ast.IsExported(rest) && rest[0] != '_' && (rest[0] < '0' || rest[0] > '9') {
		return false
	}
	return isTesting(fn.Signature.Params().At(0).Type()) && fn.Name() != "TestMain"
}

// entry is the program of one function.
func (w *World) entry(fn *ssa.Function, limits Limits, place func(token.Pos) Position) attempted {
	e := Entry{Name: fn.String(), Position: place(fn.Pos()), Test: isTest(fn), Assumptions: []Assumption{}, Loops: []Loop{}, Positions: []Position{}}
	if !w.reaches(fn).meets {
		e.Text, e.Lines, e.Migo = "main {\n}\n", []int{0, 0}, "def main.main():\n"
		return attempted{entry: e}
	}
	d, failure := w.entrySafely(fn, limits, &e, place)
	if failure == "" && d.counted && !d.full {
		// Should the numbers have no end, there is a program without them.
		coarse := limits
		coarse.scalars, coarse.states = false, 8
		other := w.entry(fn, coarse, place)
		d.steps += other.steps
		if !other.full {
			e.Coarse = &other.entry
		}
	}
	if failure != "" {
		// A fault of this program must not hide the other entries.
		p := place(fn.Pos())
		e = Entry{Name: e.Name, Position: e.Position, Test: e.Test, Loops: []Loop{}, Positions: []Position{}, Truncated: true}
		e.Assumptions = []Assumption{{&p, aboutRefused, failure, "either"}}
		e.Text, e.Lines, e.Migo = "main {\n}\n", []int{0, 0}, "def main.main():\n"
		return attempted{entry: e}
	}
	return attempted{e, d.steps, d.full}
}

// entrySafely extracts an entry; a fault of this program is a result.
func (w *World) entrySafely(fn *ssa.Function, limits Limits, e *Entry, place func(token.Pos) Position) (d *Driver, failure string) {
	defer func() {
		if r := recover(); r != nil {
			if debugging {
				panic(r)
			}
			failure = fmt.Sprint(r)
		}
	}()
	d, start := drive(w, fn, limits)
	e.Truncated = d.full
	simplify(d, start)
	lower(d, start, e, place)
	e.Names["main"] = goFunctionName(fn, d.home)
	e.Migo = migo(d, start)
	d.describe(e, place)
	return d, ""
}

// describe adds assumptions, loops and counts.
func (d *Driver) describe(e *Entry, place func(token.Pos) Position) {
	var keys []string
	for key := range d.assumptions {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := d.assumptions[keys[i]], d.assumptions[keys[j]]
		if a.pos != b.pos {
			return a.pos < b.pos
		}
		return string(a.about)+a.subject < string(b.about)+b.subject
	})
	for _, key := range keys {
		note := d.assumptions[key]
		p := place(note.pos)
		e.Assumptions = append(e.Assumptions, Assumption{&p, note.about, note.subject, note.side})
	}
	for _, header := range d.loopHeaders() {
		bounded, why := ranking(d.loopsIn(header.Parent()), header)
		if !bounded && hasOnlyLoopsThatEnd(header.Parent()) {
			bounded, why = true, "this function of a library comes to an end whatever it is given"
		}
		e.Loops = append(e.Loops, Loop{place(loopPos(header)), bounded, why})
	}
	e.Operations.Reached = len(d.reached)
	for pos := range d.reached {
		if !d.inexact[pos] {
			e.Operations.Exact++
		}
	}
}

func pointerTo(t types.Type) types.Type { return types.NewPointer(t) }

// debugging lets faults of this program be seen with their stack.
var debugging = os.Getenv("STRAIT_EXTRACT_DEBUG") != ""
