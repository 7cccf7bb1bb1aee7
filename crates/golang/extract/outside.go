package main

import (
	"go/types"
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
