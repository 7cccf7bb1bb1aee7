package main

import (
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// This file knows the functions that panic if they are given something that they refuse.

// somePanic is the value of a panic of which nothing is known but that it is not nil.
func somePanic() Value { return Ifc{nil, Sym{"«?»"}} }

const nilDereference = "runtime error: invalid memory address or nil pointer dereference"

// refusalModels: functions that are performed otherwise, called with what they refuse.
func (d *Driver) refusalModels(m *modelled) (bool, bool) {
	text := func(message string) (bool, bool) {
		return true, d.panics(m.s, Ifc{types.Typ[types.String], KStr(message)}, m.pos)
	}
	switch m.name {
	case "context.WithCancel", "context.WithCancelCause", "context.WithTimeout", "context.WithTimeoutCause",
		"context.WithDeadline", "context.WithDeadlineCause", "context.WithoutCancel", "context.WithValue":
		if isNil(m.arg(0)) {
			return text("cannot create context from nil parent")
		}
		if m.name != "context.WithValue" {
			break
		}
		if isNil(m.arg(1)) {
			return text("nil key")
		}
		if key, ok := m.arg(1).(Ifc); ok && key.typ != nil && !types.Comparable(key.typ) {
			return text("key is not comparable")
		}
	case "regexp.MustCompile":
		if pattern, ok := m.arg(0).(KStr); ok {
			if _, err := regexp.Compile(string(pattern)); err != nil {
				return text("regexp: Compile(" + strconv.Quote(string(pattern)) + "): " + err.Error())
			}
		}
	case "time.NewTicker", "(*time.Ticker).Reset":
		if wait, ok := m.args[len(m.args)-1].(KInt); ok && wait <= 0 {
			return true, d.panics(m.s, somePanic(), m.pos)
		}
	case "math/rand.Intn", "math/rand.Int31n", "math/rand.Int63n", "math/rand/v2.IntN", "math/rand/v2.Int64N", "math/rand/v2.Int32N", "math/rand/v2.N",
		"math/rand/v2.UintN", "math/rand/v2.Uint32N", "math/rand/v2.Uint64N":
		if n, ok := m.args[len(m.args)-1].(KInt); ok && n <= 0 && (n == 0 || !strings.Contains(m.name, "Uint")) {
			return true, d.panics(m.s, somePanic(), m.pos)
		}
	}
	if takesBase[m.name] {
		if base, ok := m.args[len(m.args)-1].(KInt); ok && (base < 2 || base > 36) {
			return text("strconv: illegal AppendInt/FormatInt base")
		}
	}
	if op, ok := strings.CutPrefix(m.name, "(*sync.Map)."); ok && op != "Range" && op != "Clear" {
		if danger, message := d.failsKey(m.arg(1), types.NewInterfaceType(nil, nil)); danger == certain {
			return true, d.panics(m.s, d.runtimeError(message), m.pos)
		}
	}
	if d.dereferences(m) && isNil(m.arg(0)) {
		return true, d.panics(m.s, d.runtimeError(nilDereference), m.pos)
	}
	return false, false
}

// takesBase are the functions whose last argument is the base of a number.
var takesBase = map[string]bool{
	"strconv.FormatInt": true, "strconv.FormatUint": true, "strconv.AppendInt": true, "strconv.AppendUint": true,
}

// dereferences tells methods of models that read what their receiver points to, whatever they do.
func (d *Driver) dereferences(m *modelled) bool {
	for _, receiver := range []string{"(*sync/atomic.", "(*sync.WaitGroup).", "(*sync.Map).", "(*sync.Cond).", "(*time.Timer).", "(*time.Ticker)."} {
		if strings.HasPrefix(m.name, receiver) {
			return true
		}
	}
	return false
}

// neverPanics are packages of which no quiet function panics, apart from those that say so by their
// name.
var neverPanics = map[string]bool{
	"bufio": true, "bytes": true, "cmp": true, "context": true, "embed": true, "encoding": true, "encoding/base32": true, "encoding/base64": true,
	"encoding/csv": true, "encoding/gob": true, "encoding/hex": true, "encoding/json": true, "encoding/pem": true, "encoding/xml": true, "errors": true,
	"expvar": true, "flag": true, "fmt": true, "html": true, "io": true, "io/fs": true, "io/ioutil": true, "log": true, "log/slog": true, "maps": true,
	"math": true, "mime": true, "net/url": true, "os": true, "os/user": true, "path": true, "path/filepath": true, "regexp": true, "runtime": true,
	"runtime/debug": true, "runtime/metrics": true, "runtime/pprof": true, "runtime/trace": true, "sort": true, "strconv": true, "strings": true, "sync": true,
	"sync/atomic": true, "syscall": true, "testing": true, "text/template": true, "html/template": true, "time": true, "unicode": true, "unicode/utf8": true,
	"unique": true, "weak": true, "hash": true,
}

// mayRefuse tells functions that are not read and may panic, depending on what they are given.
func (w *World) mayRefuse(fn *ssa.Function) bool {
	path, _ := w.outsidePath(fn)
	switch {
	case strings.HasPrefix(fn.Name(), "Must"):
		return true
	case path == "reflect":
		return fn.Name() != "TypeOf" && fn.Name() != "ValueOf" && fn.Name() != "DeepEqual" && fn.Name() != "TypeFor"
	case strings.HasPrefix(path, "crypto/"), strings.HasPrefix(path, "hash/"), strings.HasPrefix(path, "internal/"), strings.HasPrefix(path, testifyModule):
		return false
	}
	return !neverPanics[path]
}

// refusedPerhaps follows a call of such a function both ways, if a panic can be recovered.
func (d *Driver) refusedPerhaps(s *State, site ssa.Instruction, target Target, pos token.Pos) bool {
	call, ok := site.(*ssa.Call)
	if !ok || !d.world.mayRefuse(target.fn) || !d.isRecoverable(s) {
		return false
	}
	if functionName(target.fn) == "regexp.MustCompile" && isConstant(target.args[0]) {
		return false // a pattern that is known, and accepted
	}
	panics := d.fork(s, func(t *State) {
		if d.panics(t, somePanic(), pos) {
			t.frames = t.frames[:0]
		}
	})
	returns := d.fork(s, func(*State) {})
	d.put(&Code{op: opChoose, pos: nearPos(call), arms: []*Code{panics, returns}, lossy: true})
	return true
}
