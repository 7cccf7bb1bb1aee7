package main

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// callOutside: the function belongs to a package that is not read. It is known to wait for nothing
// and to call back only what it is given, or nothing is known of it and that is an assumption.
func (d *Driver) callOutside(s *State, site ssa.Instruction, target Target, pos token.Pos, finish func(Value)) bool {
	name := target.fn.String()
	results := target.fn.Signature.Results()
	var t types.Type = results
	if results.Len() == 1 {
		t = results.At(0).Type()
	}
	if call, ok := site.(*ssa.Call); ok && returnsText(target.fn) {
		return d.prints(s, call, target, nil, "", pos)
	}
	if functionName(target.fn) == "encoding/json.Unmarshal" && d.unmarshals(s, site, target, pos) {
		finish(KNil{})
		return false
	}
	if result, ok := d.scans(s, site, target, pos); ok {
		finish(result)
		return false
	}
	quiet, _ := d.world.quietly(target.fn)
	isParsing := parsesFlags[functionName(target.fn)]
	if isParsing && !d.flags.call {
		quiet = true
	}
	found := d.callbacks(s, target)
	if serves[functionName(target.fn)] && len(found) == 0 {
		return d.serve(s, site, target, t, pos, finish)
	}
	if !quiet {
		d.assume(pos, "either", aboutUnreadCall, name)
		d.escape(s, Tup{target.args})
	}
	if given := channelsIn(s, target.args); given != "" && !isPrinting(target.fn) {
		d.assume(pos, "either", aboutUnreadChannel, name)
		d.escape(s, Tup{target.args})
	}
	if mayHoldChannel(t) {
		d.assume(pos, "either", aboutUnreadResult, name)
	}
	if !changesNothing(target.fn) {
		d.disturb(s, target.args)
		d.havocGiven(s, target)
	}
	if isParsing && d.flags.set || setsPlain[functionName(target.fn)] {
		d.forgetPlain(s, everything(s))
	}
	if callsLater[functionName(target.fn)] && len(found) > 0 {
		d.assume(pos, "either", aboutUnreadCallback, name)
	}
	if changesEnvironment(target.fn) && !d.facts.setsEnv {
		d.facts.setsEnv = true
		d.changed = true
	}
	// What is computed from known data is lost here; everything else comes from outside.
	external := quiet && !d.isDetermined(s, target) && !(d.facts.setsEnv && readsEnvironment(target.fn)) && !d.returnsGiven(s, target, t)
	finish(d.unknownFrom(s, here(s.top()), site, t, external))
	if len(found) == 0 {
		return quiet && d.refusedPerhaps(s, site, target, pos)
	}
	return d.callBack(s, target, found, pos)
}

// havocGiven forgets what pointers, slices and maps may lead to that a function is given and that are
// not known.
func (d *Driver) havocGiven(s *State, target Target) {
	for i, arg := range target.args {
		if ifc, ok := arg.(Ifc); ok && ifc.typ != nil && aliasable(ifc.v) {
			d.havocBehind(s, ifc.typ)
		}
		if aliasable(arg) {
			d.havocBehind(s, target.parameter(i))
		}
	}
}

// parameter is the type of an argument.
func (t Target) parameter(i int) types.Type {
	if recv := t.fn.Signature.Recv(); recv != nil {
		if i == 0 {
			return recv.Type()
		}
		i--
	}
	return t.fn.Signature.Params().At(i).Type()
}

// returnsGiven tells whether a result may point to memory that the function was given.
func (d *Driver) returnsGiven(s *State, target Target, t types.Type) bool {
	return mayPoint(t) && len(d.reachable(s, target.args)) > 0
}

// mayPoint tells types of values that may lead to memory.
func mayPoint(t types.Type) bool {
	switch u := t.(type) {
	case nil:
		return false
	case *types.Tuple:
		for part := range u.Variables() {
			if mayPoint(part.Type()) {
				return true
			}
		}
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		return true
	case *types.Interface:
		return !types.Identical(t, errorType)
	case *types.Struct:
		for field := range u.Fields() {
			if mayPoint(field.Type()) {
				return true
			}
		}
	}
	return false
}

// isDetermined tells whether a function computes its result from what it is given: then the result
// is not just anything.
func (d *Driver) isDetermined(s *State, target Target) bool {
	quiet, why := d.world.quietly(target.fn)
	isText := target.fn.Name() == "Error" && target.fn.Signature.Recv() != nil
	if !quiet || why == files || why == observes && !isText {
		return false
	}
	path, _ := d.world.outsidePath(target.fn)
	switch path {
	case "math/rand", "math/rand/v2", "crypto/rand", "hash/maphash", "testing", "flag":
		return false
	case "time":
		switch target.fn.Name() {
		case "Now", "Since", "Until":
			return false
		}
	}
	for _, arg := range target.args {
		if written := text(arg); fromOutside(written) && !d.isDeclared(written) {
			return false
		}
	}
	return len(target.args) > 0 || why == computes
}

// isDeclared tells whether all that is not known in a text are variables of packages that are not read:
// what these hold is the same in every run.
func (d *Driver) isDeclared(written string) bool {
	all := true
	eachUnknown(written, func(token string) bool {
		all = all && d.declared[token]
		return true
	})
	return all
}

// changesEnvironment tells functions that set variables of the environment.
func changesEnvironment(fn *ssa.Function) bool {
	switch fn.Name() {
	case "Setenv", "Unsetenv", "Clearenv":
		return fn.Pkg != nil && (fn.Pkg.Pkg.Path() == "os" || fn.Pkg.Pkg.Path() == "testing" || fn.Pkg.Pkg.Path() == "syscall")
	}
	return false
}

// readsEnvironment tells functions that return variables of the environment.
func readsEnvironment(fn *ssa.Function) bool {
	switch functionName(fn) {
	case "os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "syscall.Getenv", "syscall.Environ":
		return true
	}
	return false
}

// callBack calls the functions and methods that a function which is not read calls back, once each
// and in the order in which it was given them. What is not known to be called in this way is an
// assumption.
func (d *Driver) callBack(s *State, target Target, found []callback, pos token.Pos) bool {
	name := target.fn.String()
	var calls, writes []Deferred
	var written []Value
	exact := callsOnce(target.fn)
	for i := len(found) - 1; i >= 0; i-- {
		one := found[i]
		if one.fn == nil || !exact || !one.method || one.fn.Signature.Params().Len() > 1 {
			d.assume(pos, "either", aboutUnreadCallback, name)
			d.escape(s, Tup{append([]Value{one.receiver}, one.bind...)})
			continue
		}
		args := []Value{one.receiver}
		if known, ok := d.formats(s, target); ok && one.fn.Name() == "Write" && one.fn.Signature.Params().Len() == 1 {
			bytes, _ := one.fn.Signature.Params().At(0).Type().Underlying().(*types.Slice)
			if site, isCall := s.top().block.Instrs[max(0, s.top().pc-1)].(*ssa.Call); isCall && bytes != nil {
				written = append(written, d.textAsSlice(s, site, string(known.(KStr)), bytes))
				args = append(args, written[len(written)-1])
				writes = append(writes, Deferred{fn: Clo{fn: one.fn}, args: args, pos: pos})
				continue
			}
		}
		for k := range one.fn.Signature.Params().Len() {
			args = append(args, d.unknown(s, here(s.top())+"callback", one.fn, one.fn.Signature.Params().At(k).Type()))
		}
		call := Deferred{fn: Clo{fn: one.fn}, args: args, pos: pos}
		if printed[one.fn.Name()] {
			calls = append(calls, call)
		} else {
			writes = append(writes, call)
		}
	}
	if len(writes) > 0 {
		s.frames = append(s.frames, d.outside(s, []After{{"released", written, pos}}, writes...))
	}
	if len(calls) > 0 {
		// A panic of such a method is printed.
		s.frames = append(s.frames, d.outside(s, []After{{"recovers", nil, pos}}, calls...))
	}
	return false
}

// callsOnce tells functions that call each method of what they are given once, in its order.
func callsOnce(fn *ssa.Function) bool {
	if fn.Pkg == nil {
		return false
	}
	switch path := fn.Pkg.Pkg.Path(); path {
	case "fmt":
		return !strings.Contains(fn.Name(), "can")
	case "testing", "log":
		return true
	case "encoding/json":
		return fn.Name() == "Marshal" || fn.Name() == "MarshalIndent"
	}
	return false
}

// isPrinting tells functions that look at a channel only to print its address.
func isPrinting(fn *ssa.Function) bool {
	if fn.Pkg == nil {
		return false
	}
	switch fn.Pkg.Pkg.Path() {
	case "fmt", "log", "log/slog", "testing", "errors", "runtime":
		return true
	}
	return strings.HasPrefix(fn.Pkg.Pkg.Path(), testifyModule)
}

// writes tells printing functions that call a writer which they are given, or were given before.
func writes(fn *ssa.Function) bool {
	switch fn.Pkg.Pkg.Path() {
	case "log", "log/slog":
		return true
	}
	return strings.HasPrefix(fn.Name(), "Fprint")
}

// serves are functions that serve others until the program ends, or fail.
var serves = map[string]bool{
	"net/http.ListenAndServe": true, "net/http.ListenAndServeTLS": true, "net/http.Serve": true, "net/http.ServeTLS": true,
	"(*net/http.Server).ListenAndServe": true, "(*net/http.Server).ListenAndServeTLS": true, "(*net/http.Server).Serve": true,
}

// serve waits for the end of the program, on purpose, or fails.
func (d *Driver) serve(s *State, site ssa.Instruction, target Target, t types.Type, pos token.Pos, finish func(Value)) bool {
	reg, isCall := site.(*ssa.Call)
	failed := d.fork(s, func(u *State) {
		err := d.someError(u, site, "serve", "the server has ended")
		if isCall {
			u.top().regs[reg] = err
		}
	})
	served := &Code{op: opSelect, pos: pos, daemon: true}
	d.put(&Code{op: opChoose, pos: pos, arms: []*Code{served, failed}})
	return true
}

// channelsIn names what an outside function could operate on.
func channelsIn(s *State, args []Value) string {
	found := ""
	for _, arg := range args {
		if ifc, ok := arg.(Ifc); ok {
			if _, model := ifc.v.(Model); model {
				continue
			}
		}
		s.reach(arg, map[string]bool{}, func(name string) {
			if o := s.heap[name]; o != nil && o.kind == "chan" && found == "" {
				found = "the channel " + name
			}
		})
	}
	return found
}

// changesNothing tells functions that change nothing their arguments point to.
func changesNothing(fn *ssa.Function) bool {
	if fn.Pkg == nil || strings.HasPrefix(fn.Name(), "Append") {
		return false
	}
	switch path := fn.Pkg.Pkg.Path(); path {
	case "fmt", "log":
		return !strings.Contains(fn.Name(), "can")
	case "strings", "strconv", "errors", "math", "math/rand/v2", "unicode", "unicode/utf8", "path", "path/filepath",
		"runtime", "testing", "regexp", "log/slog", "runtime/debug", "internal/reflectlite":
		return true
	case "reflect":
		return fn.Name() == "DeepEqual" || fn.Name() == "TypeOf" || fn.Name() == "ValueOf"
	}
	return strings.HasPrefix(fn.Pkg.Pkg.Path(), testifyModule)
}
