package main

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A *testing.T is where its test's call stands, and, if tests run in parallel: the channel that the
// parent closes when its function has returned, the one on which the parent waits for this test to
// end or to say that it is parallel, the channel that this test closes for its own subtests, and the
// wait groups of its own and of its parent's parallel subtests.
const (
	testFrame = iota
	testParentRelease
	testSignal
	testRelease
	testChildren
	testParentChildren
	testParts
)

// newTest is the *testing.T of a test whose call is at an index.
func (d *Driver) newTest(s *State, key string, frame int, parent Model, signal Value, parallel bool) Model {
	t := Model{"testing", make([]Value, testParts)}
	for i := range t.args {
		t.args[i] = KNil{}
	}
	t.args[testFrame], t.args[testSignal] = KInt(int64(frame)), signal
	if len(parent.args) == testParts {
		t.args[testParentRelease], t.args[testParentChildren] = parent.args[testRelease], parent.args[testChildren]
	}
	if parallel {
		t.args[testRelease] = d.newChannel(s, "returned", "returned "+key, 0, types.NewStruct(nil, nil), token.NoPos)
		t.args[testChildren] = d.newLock(s, "subtests", "waitgroup", token.NoPos)
	}
	return t
}

// testEnds are what is done when the function of a test has returned, last first.
func testEnds(t Model, pos token.Pos, last ...After) []After {
	return append(last, After{"testend", []Value{t}, pos})
}

// testingModels: tests, their subtests and what ends them.
func (d *Driver) testingModels(m *modelled) (bool, bool) {
	name, common := strings.CutPrefix(m.name, "(*testing.common).")
	if common {
		switch name {
		case "Fatal", "Fatalf", "FailNow", "Skip", "Skipf", "SkipNow":
			d.notePrinted(m)
			m.finish(KNil{})
			m.s.top().mode = "exit"
			return true, false
		case "Cleanup":
			m.finish(KNil{})
			d.cleanup(m)
			return true, false
		case "Context":
			d.testContext(m)
			return true, false
		case "Failed", "Skipped":
			// The test itself decides it.
			m.finish(d.unknown(m.s, here(m.s.top()), m.site, types.Typ[types.Bool]))
			return true, false
		case "Name":
			m.finish(d.testName(m))
			return true, false
		}
		return false, false
	}
	switch m.name {
	case "testing/synctest.Wait":
		return true, d.waitsForOthers(m)
	case "(*testing.T).Context":
		d.testContext(m)
	case "(*testing.T).Run", "(*testing.B).Run", "testing/synctest.Test":
		return true, d.subtest(m)
	case "(*testing.T).Parallel":
		m.finish(KNil{})
		d.parallel(m)
	case "(*testing.M).Run":
		return true, d.runTests(m)
	default:
		return false, false
	}
	return true, false
}

// testName is the name of a test; names of subtests are not followed.
func (d *Driver) testName(m *modelled) Value {
	t, ok := m.arg(0).(Model)
	if ok && len(t.args) == testParts && equal(t.args[testFrame], KInt(0)) && isNil(t.args[testSignal]) && m.s.root == "main" {
		return KStr(m.s.frames[0].fn.Name())
	}
	return d.unknown(m.s, here(m.s.top()), m.site, types.Typ[types.String])
}

// testContext is a context that ends when the function of the test and its subtests have returned,
// before the cleanups run.
func (d *Driver) testContext(m *modelled) {
	child, cancel := d.derive(m, KNil{}, false)
	m.finish(child)
	if !d.atEnd(m, After{"cancelcontext", []Value{cancel}, m.pos}) {
		d.assume(m.pos, "either", aboutUnknownContext)
	}
}

// cleanup registers a function that runs after the test and its subtests.
func (d *Driver) cleanup(m *modelled) {
	if !d.atEnd(m, After{"call", []Value{m.arg(1)}, m.pos}) {
		d.assume(m.pos, "either", aboutUnknownDefer)
	}
}

// atEnd adds what is done after the function of a test and its subtests have returned. It tells
// whether the test is known.
func (d *Driver) atEnd(m *modelled, one After) bool {
	t, ok := m.arg(0).(Model)
	index := 0
	if ok && len(t.args) == testParts {
		index = int(t.args[testFrame].(KInt))
	}
	if index >= len(m.s.frames) {
		return false
	}
	f := m.s.own(index)
	for i, after := range f.after {
		if after.what == "testend" || after.what == "cancelcontext" && one.what == "call" {
			f.after = append(append(append([]After(nil), f.after[:i]...), one), f.after[i:]...)
			return true
		}
	}
	return false
}

// subtest runs a subtest: inside the call of Run, unless it may become parallel.
func (d *Driver) subtest(m *modelled) bool {
	// The subtest itself decides it.
	m.finish(d.unknown(m.s, here(m.s.top()), m.site, types.Typ[types.Bool]))
	clo, ok := m.args[len(m.args)-1].(Clo)
	if !ok || len(clo.fn.Blocks) == 0 {
		d.assume(m.pos, "either", aboutUnknownTest)
		return false
	}
	if m.name == "testing/synctest.Test" {
		d.assume(m.pos, "over", aboutBubbleTime)
		d.bubbles[clo.fn] = true
	}
	parent, _ := m.arg(0).(Model)
	if d.world.graph.parallel[clo.fn] && len(parent.args) == testParts && !isNil(parent.args[testRelease]) {
		return d.subtestBeside(m, clo, parent)
	}
	context := d.context(m.s.top().context, clo.fn, fmt.Sprintf("subtest %d", m.pos))
	t := d.newTest(m.s, m.key(), len(m.s.frames), parent, KNil{}, false)
	frame := d.frame(clo.fn, []Value{t}, clo.bind, deferredSite, context)
	frame.after = testEnds(t, m.pos, After{"subtest", nil, m.pos})
	frame.deferred = true
	m.s.frames = append(m.s.frames, frame)
	return false
}

// subtestBeside runs a subtest in its goroutine; Run returns when it ends or becomes parallel.
func (d *Driver) subtestBeside(m *modelled, clo Clo, parent Model) bool {
	signal := d.newChannel(m.s, "subtest", "subtest "+m.key(), 0, types.NewStruct(nil, nil), token.NoPos)
	t := d.newTest(m.s, m.key(), 0, parent, signal, true)
	d.spawnWith(m.s, clo, []Value{t}, testEnds(t, m.pos, After{"subtestend", []Value{t, KBool(false)}, m.pos}), m.pos)
	d.put(&Code{op: opGet, on: variable(signal.(Ref).object), pos: m.pos})
	return false
}

// waitsForOthers goes on at any moment, although in a bubble all other goroutines of the bubble are
// blocked by then. Executions that go on too early may be possible or not, so there is another way,
// in which nothing happens any more: what follows is no violation unless that one has it too.
func (d *Driver) waitsForOthers(m *modelled) bool {
	m.finish(KNil{})
	rest := d.fork(m.s, func(*State) {})
	early := &Code{op: opPanic, note: "exit", pos: m.pos}
	d.put(&Code{op: opChoose, pos: m.pos, arms: []*Code{rest, early}, lossy: true})
	return true
}

// inBubble tells whether a goroutine runs the function of a bubble of testing/synctest.
func (d *Driver) inBubble(s *State) bool {
	return slices.ContainsFunc(s.frames, func(f *Frame) bool { return d.bubbles[f.fn] })
}

// spawnWith starts a goroutine that calls a function with arguments.
func (d *Driver) spawnWith(s *State, clo Clo, args []Value, after []After, pos token.Pos) {
	d.spawnCall(s, nil, clo, args, after, pos, nil)
}

// parallel lets the parent go on, and waits until its function has returned.
func (d *Driver) parallel(m *modelled) {
	t, ok := m.arg(0).(Model)
	if !ok || len(t.args) != testParts || isNil(t.args[testSignal]) {
		return
	}
	f := m.s.own(0)
	for i, after := range f.after {
		if after.what == "subtestend" {
			f.after[i] = After{"subtestend", []Value{after.args[0], KBool(true)}, after.pos}
		}
	}
	d.put(&Code{op: opAdd, on: variable(t.args[testParentChildren].(Ref).object), expr: &Expr{op: "int", n: 1}})
	d.put(&Code{op: opPut, on: variable(t.args[testSignal].(Ref).object), expr: &Expr{op: "unit"}})
	d.put(&Code{op: opGet, on: variable(t.args[testParentRelease].(Ref).object)})
}

// afterTest does what the testing package does when the function of a test has returned.
func (d *Driver) afterTest(s *State, after After) {
	t := after.args[0].(Model)
	switch after.what {
	case "testend":
		if release, ok := t.args[testRelease].(Ref); ok {
			d.put(&Code{op: opClose, on: variable(release.object)})
			d.put(&Code{op: opSync, note: "wait", on: variable(t.args[testChildren].(Ref).object), pos: after.pos})
		}
	case "subtestend":
		if bool(after.args[1].(KBool)) {
			d.put(&Code{op: opSync, note: "done", on: variable(t.args[testParentChildren].(Ref).object)})
		} else {
			d.put(&Code{op: opPut, on: variable(t.args[testSignal].(Ref).object), expr: &Expr{op: "unit"}})
		}
	}
}

// runTests is m.Run() in TestMain: the test that is the entry runs.
func (d *Driver) runTests(m *modelled) bool {
	m.finish(d.fromEnvironment(m.s, here(m.s.top()), m.site, types.Typ[types.Int]))
	main, ok := m.arg(0).(Model)
	if !ok || main.name != "testmain" {
		d.assume(m.pos, "either", aboutUnknownTest)
		return false
	}
	entry := main.args[0].(Clo).fn
	context := d.context(m.s.top().context, entry, "tests")
	t := d.newTest(m.s, m.key(), len(m.s.frames), Model{}, KNil{}, d.world.graph.parallel[entry])
	frame := d.frame(entry, []Value{t}, nil, deferredSite, context)
	frame.after = testEnds(t, m.pos, After{"subtest", nil, m.pos})
	frame.deferred = true
	m.s.frames = append(m.s.frames, frame)
	return false
}

// testMain finds the TestMain that runs a test, if its package has one.
func (w *World) testMain(entry *ssa.Function) *ssa.Function {
	if !isTest(entry) || entry.Pkg == nil {
		return nil
	}
	path := strings.TrimSuffix(entry.Pkg.Pkg.Path(), "_test")
	for p := range w.starts {
		if strings.TrimSuffix(p.Pkg.Path(), "_test") != path {
			continue
		}
		if fn := p.Func("TestMain"); fn != nil && len(fn.Blocks) > 0 && len(fn.Params) == 1 && isTesting(fn.Params[0].Type()) {
			return fn
		}
	}
	return nil
}
