package main

import (
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file knows the functions that are not read: which of them wait for nothing and call back
// nothing but what they are given, and why. Everything else may do anything, and then nothing is
// claimed about an entry that calls it.

const (
	errgroupPackage = "golang.org/x/sync/errgroup"
	testifyModule   = "github.com/stretchr/testify/"
)

// Reasons why a package's functions are quiet.
const (
	computes  = "it computes, and calls back only what it is given"
	files     = "operations on files and on the process come to an end"
	observes  = "it looks at the runtime and waits for nothing"
	reports   = "it prints or records, and calls back only what it is given"
	declares  = "it only declares and looks up"
	assembler = "a function in assembly or of the runtime cannot call back"
)

// quietPackages are the packages of the standard library whose functions wait for nothing and call
// back nothing but functions and methods that they are given.
var quietPackages = map[string]string{
	"archive/tar": files, "archive/zip": files, "bufio": computes, "bytes": computes, "cmp": computes,
	"compress/bzip2": computes, "compress/flate": computes, "compress/gzip": computes, "compress/lzw": computes, "compress/zlib": computes,
	"container/heap": computes, "container/list": computes, "container/ring": computes,
	"crypto": computes, "debug/buildinfo": files, "debug/dwarf": computes, "debug/elf": files, "debug/macho": files, "debug/pe": files,
	"embed": declares, "encoding": declares, "errors": computes, "expvar": declares, "flag": declares, "fmt": reports,
	"hash": computes, "html": computes, "html/template": computes, "image": computes, "index/suffixarray": computes,
	"io": computes, "io/fs": files, "io/ioutil": files, "iter": computes, "log": reports, "log/slog": reports, "log/syslog": reports,
	"maps": computes, "math": computes, "mime": computes, "net/mail": computes, "net/netip": computes, "net/textproto": computes, "net/url": computes,
	"os": files, "os/user": files, "path": computes, "path/filepath": files, "reflect": computes, "regexp": computes, "runtime": observes,
	"slices": computes, "sort": computes, "strconv": computes, "strings": computes, "structs": declares, "syscall": files,
	"testing": reports, "text/scanner": computes, "text/tabwriter": computes, "text/template": computes, "time": computes,
	"unicode": computes, "unique": computes, "weak": computes, "internal": computes, "sync": computes, "sync/atomic": computes,
	"golang.org/x/sys": files, "go": computes, "context": computes, "vendor": computes,
}

// loud are functions of quiet packages that wait, or that call what they were not given just now.
var loud = map[string]bool{
	"os.Pipe": true, "(*os.Process).Wait": true, "os.StartProcess": true, "(*os.Process).Signal": true, "(*os.Process).Kill": true,
	"syscall.Wait4": true, "syscall.Kill": true, "syscall.Select": true, "syscall.Exec": true, "syscall.ForkExec": true, "syscall.StartProcess": true,
	"golang.org/x/sys/unix.Wait4": true, "golang.org/x/sys/unix.Kill": true, "golang.org/x/sys/unix.Poll": true, "golang.org/x/sys/unix.Select": true,
	"(reflect.Value).Call": true, "(reflect.Value).CallSlice": true, "(reflect.Value).Send": true, "(reflect.Value).Recv": true,
	"(reflect.Value).TrySend": true, "(reflect.Value).TryRecv": true, "(reflect.Value).Close": true, "reflect.Select": true, "reflect.MakeFunc": true,
	"(reflect.Value).Seq": true, "(reflect.Value).Seq2": true, "(reflect.Value).Method": true, "(reflect.Value).MethodByName": true,
	"(reflect.Value).Set": true, "(reflect.Value).SetLen": true, "(reflect.Value).SetCap": true, "(reflect.Value).SetMapIndex": true,
	"(reflect.Value).SetIterKey": true, "(reflect.Value).SetIterValue": true, "(reflect.Value).SetZero": true, "(reflect.Value).SetPointer": true,
	"(reflect.Value).SetBytes": true, "(reflect.Value).Clear": true, "(reflect.Value).Grow": true, "reflect.Copy": true, "reflect.Append": true, "reflect.AppendSlice": true,
	"reflect.MakeChan": true, "reflect.Swapper": true,
	"iter.Pull": true, "iter.Pull2": true, "runtime.SetFinalizer": true, "runtime.AddCleanup": true,
}

// parsesFlags are the functions that set the variables of flags and call what flags are given.
var parsesFlags = map[string]bool{"flag.Parse": true, "(*flag.FlagSet).Parse": true, "flag.Set": true, "(*flag.FlagSet).Set": true}

// setsPlain are the functions that set a variable which was given to package reflect before.
var setsPlain = map[string]bool{
	"(reflect.Value).SetInt": true, "(reflect.Value).SetUint": true, "(reflect.Value).SetFloat": true, "(reflect.Value).SetComplex": true,
	"(reflect.Value).SetBool": true, "(reflect.Value).SetString": true,
}

// registers are functions that keep a constructor or a type, for code that asks for one of that name:
// what is made matters only if others notice how.
var registers = map[string]bool{
	"crypto.RegisterHash": true, "image.RegisterFormat": true, "encoding/gob.Register": true, "encoding/gob.RegisterName": true,
}

// callsLater are functions that keep what they are given, for others to call.
var callsLater = map[string]bool{
	"log.SetOutput": true, "(*log.Logger).SetOutput": true, "log.New": true, "log/slog.SetDefault": true, "log/slog.New": true,
	"log/slog.NewTextHandler": true, "log/slog.NewJSONHandler": true, "log/slog.NewLogLogger": true,
}

// quietElsewhere are functions of packages that are not quiet, but are themselves.
var quietElsewhere = map[string]string{
	"net.ParseIP": computes, "net.ParseCIDR": computes, "net.JoinHostPort": computes, "net.SplitHostPort": computes, "net.IPv4": computes,
	"net.ParseMAC": computes, "net.CIDRMask": computes, "(net.IP).String": computes, "(net.IP).Equal": computes, "(net.IP).To4": computes, "(net.IP).To16": computes,
	"net/http.StatusText": computes, "net/http.CanonicalHeaderKey": computes, "net/http.NewRequest": computes, "net/http.NewRequestWithContext": computes,
	"net/http/httptest.NewRecorder": computes, "net/http/httptest.NewRequest": computes, "os/exec.LookPath": files, "os/exec.Command": declares,
}

// quietMethods are types of packages that are not quiet whose methods only compute.
var quietMethods = map[string]bool{
	"net/http.Header": true, "net/url.Values": true, "*net/url.URL": true, "net.IP": true, "net.IPMask": true, "*net.IPNet": true,
	"net.HardwareAddr": true, "*net.TCPAddr": true, "*net.UDPAddr": true, "*net/http/httptest.ResponseRecorder": true, "*net/http.Cookie": true,
}

// outsidePath is the package of a function that is not read.
func (w *World) outsidePath(fn *ssa.Function) (string, bool) {
	pkg := fn.Pkg
	if pkg == nil {
		if origin := fn.Origin(); origin != nil {
			pkg = origin.Pkg
		}
	}
	if pkg == nil {
		if object := fn.Object(); object != nil && object.Pkg() != nil && len(fn.Blocks) == 0 {
			return object.Pkg().Path(), true
		}
		return "", false
	}
	if w.roots[pkg] && !isModelledModule(pkg.Pkg.Path()) && len(fn.Blocks) > 0 {
		return "", false
	}
	return pkg.Pkg.Path(), true
}

// quietly tells whether a function that is not read waits for nothing and calls back nothing but
// what it is given, and why.
func (w *World) quietly(fn *ssa.Function) (bool, string) {
	if origin := fn.Origin(); origin != nil {
		fn = origin
	}
	name := functionName(fn)
	if loud[name] || parsesFlags[name] {
		return false, ""
	}
	if fn.Name() == "init" && fn.Signature.Recv() == nil {
		return true, "the initialisation of a package that is not read knows nothing of others"
	}
	if why, ok := quietElsewhere[name]; ok {
		return true, why
	}
	if recv := fn.Signature.Recv(); recv != nil && quietMethods[typeName(recv.Type())] {
		return true, computes
	}
	path, outside := w.outsidePath(fn)
	if !outside {
		return false, ""
	}
	if strings.HasPrefix(path, testifyModule) {
		return true, reports
	}
	if why, ok := quietPackage(path); ok {
		return true, why
	}
	// What a package that is read declares without a body is written in assembly, or linked from
	// the runtime.
	if w.isAssembly(fn) {
		return true, assembler
	}
	return false, ""
}

// isUsage tells the variable and the field of package flag that hold what parsing calls if it fails.
func isUsage(address ssa.Value) bool {
	switch a := address.(type) {
	case *ssa.Global:
		return a.Name() == "Usage" && a.Pkg.Pkg.Path() == "flag"
	case *ssa.FieldAddr:
		pointer, ok := a.X.Type().Underlying().(*types.Pointer)
		if !ok {
			return false
		}
		field := fieldOf(pointer.Elem(), a.Field)
		return field != nil && field.Name() == "Usage" && field.Pkg() != nil && field.Pkg().Path() == "flag"
	}
	return false
}

// quietPackage tells packages whose functions are quiet, and why they are.
func quietPackage(path string) (string, bool) {
	if path == "testing/quick" {
		// It makes values of any type, by the methods of that type.
		return "", false
	}
	if why, ok := quietPackages[path]; ok {
		return why, true
	}
	for _, family := range []string{"crypto", "encoding", "hash", "image", "internal", "math", "mime", "regexp", "runtime", "testing", "unicode", "vendor", "go", "golang.org/x/sys"} {
		if strings.HasPrefix(path, family+"/") {
			return quietPackages[family], true
		}
	}
	return "", false
}

func isQuietPackage(path string) bool {
	_, quiet := quietPackage(path)
	return quiet || strings.HasPrefix(path, testifyModule)
}

// flagging tells functions that give a flag a variable of the program, or something to call when it
// is parsed.
func flagging(callee *ssa.Function) (variable, callback bool) {
	if callee.Pkg == nil || callee.Pkg.Pkg.Path() != "flag" {
		return false, false
	}
	switch name := callee.Name(); name {
	case "Var", "Func", "BoolFunc", "TextVar", "SetOutput":
		return false, true
	default:
		return strings.HasSuffix(name, "Var"), false
	}
}

// calledBackAnyway are the methods that code of the standard library calls on values it is given by
// interfaces that it does not declare at the level of a package, and those of packages that are read.
const calledBackAnyway = `String Error Format GoString MarshalJSON UnmarshalJSON MarshalText UnmarshalText
		AppendText AppendBinary MarshalBinary UnmarshalBinary MarshalXML UnmarshalXML MarshalXMLAttr GobEncode GobDecode Write WriteString WriteTo
		WriteByte WriteRune Read ReadFrom ReadByte ReadRune ReadString Close Flush Seek ReadAt WriteAt Len Less Swap Push Pop Is As Unwrap
		Scan Value Set Get Lock Unlock ServeHTTP RoundTrip Handle Enabled LogValue WithAttrs WithGroup Next Open Stat Done Err Deadline
		Timeout Temporary Int63 Uint64 Seed Sum Sum32 Sum64 Reset BlockSize Size Public Sign Decrypt Validate IsZero IsBoolFlag`

// namesCalledBack are the names of the methods that code which is not read may call on what it is given:
// it knows them by the interfaces that packages declare.
func (w *World) namesCalledBack() map[string]bool {
	names := map[string]bool{}
	for _, name := range strings.Fields(calledBackAnyway) {
		names[name] = true
	}
	for _, p := range w.program.AllPackages() {
		path := p.Pkg.Path()
		if w.roots[p] || !isQuietPackage(path) || path == "reflect" || modelledPackages[path] || strings.HasPrefix(path, "internal/") {
			continue
		}
		for _, name := range p.Pkg.Scope().Names() {
			declared, ok := p.Pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok {
				continue
			}
			if methods, ok := declared.Type().Underlying().(*types.Interface); ok {
				for method := range methods.Methods() {
					names[method.Name()] = true
				}
			}
		}
	}
	return names
}

// isCalledBack tells apart the methods that code of the standard library calls from others of the
// same name.
func isCalledBack(method *ssa.Function) bool {
	params, results := method.Signature.Params(), method.Signature.Results()
	switch method.Name() {
	case "String", "Error", "GoString":
		return params.Len() == 0 && results.Len() == 1 && types.Identical(results.At(0).Type(), types.Typ[types.String])
	case "Format":
		return params.Len() == 2 && results.Len() == 0
	case "Write", "Read":
		return params.Len() == 1 && results.Len() == 2 && types.Identical(results.At(1).Type(), errorType)
	}
	return true
}

// printed are the methods that fmt, and what prints by it, calls.
var printed = map[string]bool{"String": true, "Error": true, "Format": true, "GoString": true}

// callback is a function or method that code which is not read may call.
type callback struct {
	fn       *ssa.Function // nil if it is not known
	receiver Value
	bind     []Value
	method   bool
}

// callbacks lists what a function that is not read may call back: functions among what it is given
// and methods of what it is given, if other goroutines could notice them.
func (d *Driver) callbacks(s *State, target Target) []callback {
	names := d.world.calledBack
	path, _ := d.world.outsidePath(target.fn)
	switch path {
	case "reflect":
		// What calls methods or functions is not quiet.
		return nil
	case "encoding/json":
		if target.fn.Name() == "NewEncoder" || target.fn.Name() == "NewDecoder" {
			break // they keep what they write to, or read from
		}
		names = map[string]bool{}
		for _, format := range []string{"JSON", "Text"} {
			names["Marshal"+format] = !strings.HasPrefix(target.fn.Name(), "Unmarshal")
			names["Unmarshal"+format] = !strings.HasPrefix(target.fn.Name(), "Marshal")
		}
	case "fmt", "log", "testing", "errors":
		if strings.Contains(target.fn.Name(), "can") {
			break // Scan calls other methods than Print
		}
		names = printed
		if strings.HasPrefix(target.fn.Name(), "Fprint") || path == "log" {
			names = map[string]bool{"String": true, "Error": true, "Format": true, "GoString": true, "Write": true}
		}
	}
	prints := path == "fmt" || path == "log" || path == "testing" || path == "errors"
	c := &calling{d: d, s: s, names: names, seen: map[string]bool{}, addresses: !prints, marshals: path == "encoding/json"}
	if (path == "fmt" || path == "log" || path == "testing") && !strings.Contains(target.fn.Name(), "can") {
		if found, ok := d.printedBack(s, target); ok {
			c.found = found
			if strings.HasPrefix(target.fn.Name(), "Fprint") {
				// The writer is written to once, when everything is there.
				c.names = map[string]bool{"Write": true}
				if writer, ok := target.args[0].(Ifc); ok {
					c.methods(writer.v, writer.typ)
				} else {
					c.unknown(target.fn.Signature.Params().At(0).Type())
				}
			}
			return c.found
		}
	}
	params := target.fn.Signature.Params()
	offset := 0
	if target.fn.Signature.Recv() != nil {
		offset = 1
	}
	for i, arg := range target.args {
		var t types.Type
		if i < offset {
			t = target.fn.Signature.Recv().Type()
		} else if i-offset < params.Len() {
			t = params.At(i - offset).Type()
		}
		c.value(arg, t, 0)
		if to, ok := arg.(Ifc); ok && c.addresses {
			c.decoded(to.typ)
		}
	}
	if registers[functionName(target.fn)] {
		return slices.DeleteFunc(c.found, func(one callback) bool { return one.fn != nil && !d.world.communicates(one.fn) })
	}
	return c.found
}

// givesCallback tells whether a method that is not known is given something that it may call.
func (d *Driver) givesCallback(s *State, call *ssa.CallCommon, args []Value) bool {
	c := &calling{d: d, s: s, names: d.world.calledBack, seen: map[string]bool{}, addresses: true}
	for i, arg := range args {
		c.value(arg, call.Signature().Params().At(i).Type(), 0)
	}
	return len(c.found) > 0
}

// calling collects callbacks.
type calling struct {
	d     *Driver
	s     *State
	names map[string]bool
	seen  map[string]bool
	found []callback
	// addresses: methods of pointers to what is in memory are called, too.
	addresses bool
	// inMemory: what is looked at has an address.
	inMemory bool
	// marshals: values are looked at as encoding/json does.
	marshals bool
}

func (c *calling) value(v Value, t types.Type, depth int) {
	if depth > 12 || len(c.found) > 64 {
		return
	}
	switch v := v.(type) {
	case Clo:
		if c.d.world.hasEffects(v.fn) {
			c.found = append(c.found, callback{fn: v.fn, bind: v.bind})
		}
		for _, bound := range v.bind {
			c.value(bound, nil, depth+1)
		}
		return
	case Model:
		switch v.name {
		case "context", "rlocker", "testing":
		default:
			c.found = append(c.found, callback{receiver: v})
		}
		return
	case Ifc:
		c.without(func() { c.value(v.v, v.typ, depth+1) })
		return
	case Sym:
		if !fromOutside(v.id) {
			c.unknown(t)
		}
		return
	}
	if t != nil && c.methods(v, t) && c.marshals {
		return
	}
	switch v := v.(type) {
	case Agg:
		for i, e := range v.elems {
			c.part(e, t, i, depth)
		}
	case Ptr:
		c.object(v.object, depth)
	case Slc:
		c.object(v.object, depth)
	}
}

// decoded adds the methods of values that a function which decodes may make.
func (c *calling) decoded(t types.Type) {
	if t == nil {
		return
	}
	if _, isPointer := t.Underlying().(*types.Pointer); !isPointer {
		return
	}
	for _, inner := range c.d.world.inside(t) {
		for _, fn := range c.d.world.methodsOf(types.NewPointer(inner)) {
			decodes := strings.HasPrefix(fn.Name(), "Unmarshal") || fn.Name() == "GobDecode" || fn.Name() == "Scan"
			if decodes && c.names[fn.Name()] && c.d.world.hasEffects(fn) {
				c.found = append(c.found, callback{})
				return
			}
		}
	}
}

// without looks at something that has no address.
func (c *calling) without(look func()) {
	before := c.inMemory
	c.inMemory = false
	look()
	c.inMemory = before
}

// part looks at a part of a struct or array. encoding/json leaves out fields that are not exported, and
// may leave out others.
func (c *calling) part(v Value, t types.Type, i, depth int) {
	field := fieldOf(t, i)
	if !c.marshals || field == nil {
		c.value(v, partType(t, i), depth+1)
		return
	}
	tag := reflect.StructTag(t.Underlying().(*types.Struct).Tag(i)).Get("json")
	if tag == "-" || !field.Exported() && !field.Embedded() {
		return
	}
	before := len(c.found)
	if strings.Contains(tag, ",omitzero") && c.d.world.asksZero(field.Type()) {
		c.found = append(c.found, callback{})
	}
	c.value(v, field.Type(), depth+1)
	if len(c.found) > before && (strings.Contains(tag, ",") || field.Embedded()) {
		c.found = append(c.found[:before], callback{})
	}
}

// asksZero tells types with an IsZero, which encoding/json calls, that others notice.
func (w *World) asksZero(t types.Type) bool {
	for _, of := range []types.Type{t, types.NewPointer(t)} {
		if fn := w.methodNamed(of, "IsZero"); fn != nil && w.hasEffects(fn) {
			return true
		}
		if types.IsInterface(t) && len(w.graph.boxedWith["IsZero"]) > 0 {
			return true
		}
	}
	return false
}

func (c *calling) object(name string, depth int) {
	if c.seen[name] {
		return
	}
	c.seen[name] = true
	o := c.s.heap[name]
	if o == nil {
		return
	}
	before := c.inMemory
	c.inMemory = true
	c.value(o.value, o.typ, depth+1)
	c.inMemory = before
	if o.kind == "map" {
		m, _ := o.typ.Underlying().(*types.Map)
		basic, _ := m.Key().Underlying().(*types.Basic)
		isText := basic != nil && basic.Info()&types.IsString != 0
		c.without(func() {
			for _, key := range sortedKeys(o.entries) {
				if !c.marshals || !isText {
					c.value(o.keys[key], m.Key(), depth+1)
				}
				c.value(o.entries[key], m.Elem(), depth+1)
			}
		})
		if o.blurred {
			c.unknown(m.Key())
			c.unknown(m.Elem())
		}
	}
}

// methods adds the methods of a value that may be called and noticed. It tells whether it has any that
// is called, noticed or not.
func (c *calling) methods(v Value, t types.Type) bool {
	if t == nil || types.IsInterface(t) {
		return false
	}
	if _, isModel := v.(Model); isModel || isNil(v) {
		return false
	}
	called := false
	for _, fn := range c.d.world.noticedMethods(t) {
		if !c.names[fn.Name()] || c.marshals && strings.HasSuffix(fn.Name(), "Text") && c.d.world.methodNamed(t, strings.TrimSuffix(fn.Name(), "Text")+"JSON") != nil {
			continue
		}
		called = true
		c.found = append(c.found, callback{fn: fn, receiver: v, method: true})
	}
	if _, isPointer := t.Underlying().(*types.Pointer); isPointer || !c.addresses || !c.inMemory {
		return called
	}
	// A method of the pointer, whose receiver has no name here.
	for _, fn := range c.d.world.methodsOf(types.NewPointer(t)) {
		if c.names[fn.Name()] && isCalledBack(fn) && c.d.world.hasEffects(fn) && c.d.world.methodNamed(t, fn.Name()) == nil {
			c.found = append(c.found, callback{})
			return true
		}
	}
	return called
}

// noticedMethods are the methods of a type that may be called through an interface and noticed.
func (w *World) noticedMethods(t types.Type) []*ssa.Function {
	found, known := w.noticed[t]
	if known {
		return found
	}
	set := w.program.MethodSets.MethodSet(t)
	for i := range set.Len() {
		selection := set.At(i)
		isBoxed := func(boxed types.Type) bool { return types.Identical(boxed, t) }
		if slices.ContainsFunc(w.graph.boxedWith[selection.Obj().Name()], isBoxed) {
			if fn := w.program.MethodValue(selection); fn != nil {
				found = append(found, fn)
			}
		}
	}
	w.noticed[t] = found
	return found
}

// unknown adds what a value of which only the type is known may lead to.
func (c *calling) unknown(t types.Type) {
	if t == nil {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		c.found = append(c.found, callback{})
	case *types.Interface:
		for name := range c.names {
			for _, boxed := range c.d.world.graph.boxedWith[name] {
				if types.Implements(boxed, u) && !isStandard(boxed) {
					c.found = append(c.found, callback{})
					return
				}
			}
		}
	case *types.Slice:
		c.unknown(u.Elem())
	case *types.Pointer:
		if _, isStruct := u.Elem().Underlying().(*types.Struct); !isStruct {
			c.unknown(u.Elem())
		}
	}
}

// quietInterface tells interfaces whose values come from packages that wait for nothing: those that
// the packages which are read declare, and those of quiet packages.
func quietInterface(call *ssa.CallCommon) bool {
	pkg := call.Method.Pkg()
	if pkg == nil {
		return true // error
	}
	if named, ok := types.Unalias(call.Value.Type()).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "hash" {
		// A hash writes to nothing but itself.
		return true
	}
	switch path := pkg.Path(); path {
	case "net", "net/http", "database/sql", "net/rpc", "sync", "context", "io", "os/exec":
		return false
	}
	return true
}

// isLoudInterface tells interfaces whose values come from packages that may wait: a variable of such
// a package may hold one without any call.
func isLoudInterface(call *ssa.CallCommon) bool {
	pkg := call.Method.Pkg()
	if pkg == nil {
		return false
	}
	switch pkg.Path() {
	case "sync", "context", "io":
		return false
	}
	return !quietInterface(call)
}

// isLoudVariable tells variables of packages that are not read and may wait through which something
// can be called. Errors are only compared and printed.
func (w *World) isLoudVariable(global *ssa.Global) bool {
	path := global.Pkg.Pkg.Path()
	if w.isRoot(global.Pkg) || isQuietPackage(path) || path+"."+global.Name() == "net/http.NoBody" {
		return false
	}
	t := global.Type().(*types.Pointer).Elem()
	return !plain(t, 6) && mayHoldMethods(t, 6)
}

// isStandard tells types of the packages of the standard library that are read: their methods do no
// more than call those of others.
func isStandard(t types.Type) bool {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && readable[named.Obj().Pkg().Path()]
}
