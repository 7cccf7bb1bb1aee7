package main

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"math"
	"math/bits"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/ssa"
)

// natives are functions of the standard library that are called as they are when all their
// arguments are known: they depend on nothing else. This program is built with the user's own go,
// so they are the very functions that the user's program calls.
var natives = map[string]any{
	"strings.Clone": strings.Clone, "strings.Compare": strings.Compare, "strings.Contains": strings.Contains, "strings.ContainsAny": strings.ContainsAny,
	"strings.ContainsRune": strings.ContainsRune, "strings.Count": strings.Count, "strings.EqualFold": strings.EqualFold,
	"strings.Fields": strings.Fields, "strings.HasPrefix": strings.HasPrefix, "strings.HasSuffix": strings.HasSuffix,
	"strings.Index": strings.Index, "strings.IndexAny": strings.IndexAny, "strings.IndexByte": strings.IndexByte, "strings.IndexRune": strings.IndexRune,
	"strings.Join": strings.Join, "strings.LastIndex": strings.LastIndex, "strings.LastIndexByte": strings.LastIndexByte, "strings.LastIndexAny": strings.LastIndexAny, "strings.Repeat": strings.Repeat,
	"strings.Replace": strings.Replace, "strings.ReplaceAll": strings.ReplaceAll, "strings.Split": strings.Split,
	"strings.SplitAfter": strings.SplitAfter, "strings.SplitAfterN": strings.SplitAfterN, "strings.SplitN": strings.SplitN,
	"strings.ToLower": strings.ToLower, "strings.ToTitle": strings.ToTitle, "strings.ToUpper": strings.ToUpper, "strings.ToValidUTF8": strings.ToValidUTF8,
	"strings.Trim": strings.Trim, "strings.TrimLeft": strings.TrimLeft, "strings.TrimPrefix": strings.TrimPrefix, "strings.TrimRight": strings.TrimRight,
	"strings.TrimSpace": strings.TrimSpace, "strings.TrimSuffix": strings.TrimSuffix, "strings.Cut": strings.Cut, "strings.CutPrefix": strings.CutPrefix, "strings.CutSuffix": strings.CutSuffix,
	"strconv.Atoi": strconv.Atoi, "strconv.Itoa": strconv.Itoa, "strconv.FormatBool": strconv.FormatBool, "strconv.FormatInt": strconv.FormatInt,
	"strconv.FormatUint": strconv.FormatUint, "strconv.FormatFloat": strconv.FormatFloat, "strconv.ParseBool": strconv.ParseBool,
	"strconv.ParseFloat": strconv.ParseFloat, "strconv.ParseInt": strconv.ParseInt, "strconv.ParseUint": strconv.ParseUint,
	"strconv.Quote": strconv.Quote, "strconv.Unquote": strconv.Unquote, "strconv.QuoteRune": strconv.QuoteRune,
	"unicode.IsLetter": unicode.IsLetter, "unicode.IsDigit": unicode.IsDigit, "unicode.IsSpace": unicode.IsSpace, "unicode.IsUpper": unicode.IsUpper,
	"unicode.IsLower": unicode.IsLower, "unicode.IsPunct": unicode.IsPunct, "unicode.IsNumber": unicode.IsNumber, "unicode.IsControl": unicode.IsControl, "unicode.IsGraphic": unicode.IsGraphic, "unicode.IsPrint": unicode.IsPrint, "unicode.IsSymbol": unicode.IsSymbol, "unicode.IsTitle": unicode.IsTitle,
	"unicode.ToUpper": unicode.ToUpper, "unicode.ToLower": unicode.ToLower, "unicode.ToTitle": unicode.ToTitle,
	"unicode/utf8.RuneCountInString": utf8.RuneCountInString, "unicode/utf8.RuneCount": utf8.RuneCount, "unicode/utf8.RuneLen": utf8.RuneLen, "unicode/utf8.ValidString": utf8.ValidString,
	"unicode/utf8.Valid": utf8.Valid, "unicode/utf8.ValidRune": utf8.ValidRune, "unicode/utf8.DecodeRuneInString": utf8.DecodeRuneInString, "unicode/utf8.DecodeLastRuneInString": utf8.DecodeLastRuneInString, "unicode/utf8.DecodeRune": utf8.DecodeRune,
	"math.Abs": math.Abs, "math.Ceil": math.Ceil, "math.Floor": math.Floor, "math.Max": math.Max, "math.Min": math.Min, "math.Mod": math.Mod,
	"math.Pow": math.Pow, "math.Round": math.Round, "math.Sqrt": math.Sqrt, "math.Trunc": math.Trunc, "math.Log": math.Log, "math.Log2": math.Log2, "math.Log10": math.Log10, "math.Exp": math.Exp,
	"math.IsNaN": math.IsNaN, "math.IsInf": math.IsInf, "math.Inf": math.Inf, "math.NaN": math.NaN, "math.Hypot": math.Hypot, "math.Cbrt": math.Cbrt, "math.Float64bits": math.Float64bits, "math.Float32bits": math.Float32bits, "math.Signbit": math.Signbit,
	"math/bits.LeadingZeros": bits.LeadingZeros, "math/bits.LeadingZeros32": bits.LeadingZeros32, "math/bits.LeadingZeros64": bits.LeadingZeros64, "math/bits.Len": bits.Len, "math/bits.Len8": bits.Len8, "math/bits.Len16": bits.Len16, "math/bits.Len32": bits.Len32, "math/bits.Len64": bits.Len64,
	"math/bits.OnesCount": bits.OnesCount, "math/bits.OnesCount8": bits.OnesCount8, "math/bits.OnesCount16": bits.OnesCount16, "math/bits.OnesCount32": bits.OnesCount32, "math/bits.OnesCount64": bits.OnesCount64,
	"math/bits.TrailingZeros": bits.TrailingZeros, "math/bits.TrailingZeros8": bits.TrailingZeros8, "math/bits.TrailingZeros16": bits.TrailingZeros16, "math/bits.TrailingZeros32": bits.TrailingZeros32, "math/bits.TrailingZeros64": bits.TrailingZeros64,
	"math/bits.Reverse": bits.Reverse, "math/bits.Reverse8": bits.Reverse8, "math/bits.Reverse16": bits.Reverse16, "math/bits.Reverse32": bits.Reverse32, "math/bits.Reverse64": bits.Reverse64, "math/bits.RotateLeft": bits.RotateLeft, "math/bits.RotateLeft8": bits.RotateLeft8, "math/bits.RotateLeft16": bits.RotateLeft16, "math/bits.RotateLeft32": bits.RotateLeft32, "math/bits.RotateLeft64": bits.RotateLeft64, "math/bits.ReverseBytes32": bits.ReverseBytes32, "math/bits.ReverseBytes64": bits.ReverseBytes64,
	"math/bits.Add": bits.Add, "math/bits.Mul": bits.Mul, "math/bits.Sub": bits.Sub, "math/bits.Add64": bits.Add64, "math/bits.Mul64": bits.Mul64, "math/bits.Sub64": bits.Sub64,
	"(time.Duration).String": time.Duration.String, "(time.Duration).Milliseconds": time.Duration.Milliseconds, "(time.Duration).Microseconds": time.Duration.Microseconds, "(time.Duration).Nanoseconds": time.Duration.Nanoseconds, "(time.Duration).Seconds": time.Duration.Seconds, "(time.Duration).Minutes": time.Duration.Minutes, "(time.Duration).Hours": time.Duration.Hours,
	"(time.Duration).Round": time.Duration.Round, "(time.Duration).Truncate": time.Duration.Truncate, "(time.Duration).Abs": time.Duration.Abs, "(time.Month).String": time.Month.String, "(time.Weekday).String": time.Weekday.String,
	"bytes.Equal": bytes.Equal, "bytes.Compare": bytes.Compare, "bytes.Contains": bytes.Contains, "bytes.ContainsAny": bytes.ContainsAny, "bytes.ContainsRune": bytes.ContainsRune, "bytes.Count": bytes.Count, "bytes.EqualFold": bytes.EqualFold,
	"bytes.HasPrefix": bytes.HasPrefix, "bytes.HasSuffix": bytes.HasSuffix, "bytes.Index": bytes.Index, "bytes.IndexAny": bytes.IndexAny, "bytes.IndexByte": bytes.IndexByte, "bytes.IndexRune": bytes.IndexRune,
	"bytes.LastIndex": bytes.LastIndex, "bytes.LastIndexAny": bytes.LastIndexAny, "bytes.LastIndexByte": bytes.LastIndexByte,
	"bytes.ToUpper": bytes.ToUpper, "bytes.ToLower": bytes.ToLower, "bytes.ToTitle": bytes.ToTitle, "bytes.ToValidUTF8": bytes.ToValidUTF8, "bytes.Repeat": bytes.Repeat, "bytes.ReplaceAll": bytes.ReplaceAll, "bytes.Replace": bytes.Replace, "bytes.Runes": bytes.Runes,
	"path.Base": path.Base, "path.Clean": path.Clean, "path.Dir": path.Dir, "path.Ext": path.Ext, "path.Join": path.Join, "path.IsAbs": path.IsAbs,
	"path/filepath.Base": filepath.Base, "path/filepath.Clean": filepath.Clean, "path/filepath.Dir": filepath.Dir, "path/filepath.Ext": filepath.Ext, "path/filepath.Join": filepath.Join,
}

// appendingNatives are functions that append a text to their first argument, in one step; the function
// here makes the text.
var appendingNatives = map[string]any{
	"strconv.AppendInt": strconv.FormatInt, "strconv.AppendUint": strconv.FormatUint, "strconv.AppendBool": strconv.FormatBool,
}

// appendNative calls a function of the standard library that appends to its first argument.
func (d *Driver) appendNative(s *State, site ssa.Instruction, target Target, pos token.Pos) (Value, bool) {
	function, ok := appendingNatives[functionName(target.fn)]
	call, isCall := site.(*ssa.Call)
	if !ok || !isCall {
		return nil, false
	}
	f := reflect.ValueOf(function)
	in := make([]reflect.Value, len(target.args)-1)
	for i, arg := range target.args[1:] {
		if in[i], ok = d.native(s, arg, f.Type().In(i)); !ok {
			return nil, false
		}
	}
	out, ok := callSafely(f, in)
	if !ok {
		return nil, false
	}
	return d.appends(s, call, []Value{target.args[0], KStr(out[0].String())}, pos), true
}

// callNative calls a function of the standard library with known arguments.
func (d *Driver) callNative(s *State, site ssa.Instruction, target Target) (Value, bool) {
	function, ok := natives[functionName(target.fn)]
	if !ok {
		return nil, false
	}
	f := reflect.ValueOf(function)
	if f.Type().NumIn() != len(target.args) {
		return nil, false
	}
	in := make([]reflect.Value, len(target.args))
	size := 0
	for i, arg := range target.args {
		v, ok := d.native(s, arg, f.Type().In(i))
		if !ok {
			return nil, false
		}
		if v.Kind() == reflect.String || v.Kind() == reflect.Slice {
			size += v.Len()
		}
		in[i] = v
	}
	if strings.HasSuffix(functionName(target.fn), ".Repeat") && (in[1].Int() < 0 || in[1].Int()*int64(size) > longestText) {
		return nil, false
	}
	out, ok := callSafely(f, in)
	if !ok {
		d.nativePanics = true
		return nil, false
	}
	results := target.fn.Signature.Results()
	elems := make([]Value, len(out))
	for i, v := range out {
		if elems[i], ok = d.known(s, site, v, results.At(i).Type(), i); !ok {
			return nil, false
		}
	}
	if len(elems) == 1 {
		return elems[0], true
	}
	return Tup{elems}, true
}

// callSafely calls a function that may panic.
func callSafely(f reflect.Value, in []reflect.Value) (out []reflect.Value, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if f.Type().IsVariadic() {
		return f.CallSlice(in), true
	}
	return f.Call(in), true
}

// native is a known value as a value of this program.
func (d *Driver) native(s *State, v Value, t reflect.Type) (reflect.Value, bool) {
	switch v := v.(type) {
	case KBool:
		if t.Kind() == reflect.Bool {
			return reflect.ValueOf(bool(v)).Convert(t), true
		}
	case KInt:
		switch t.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			return reflect.ValueOf(int64(v)).Convert(t), true
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
			return reflect.ValueOf(uint64(v)).Convert(t), true
		}
	case KFloat:
		if t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32 {
			return reflect.ValueOf(float64(v)).Convert(t), true
		}
	case KStr:
		if t.Kind() == reflect.String {
			return reflect.ValueOf(string(v)).Convert(t), true
		}
	case KNil:
		if t.Kind() == reflect.Slice {
			return reflect.Zero(t), true
		}
	case Slc:
		if t.Kind() != reflect.Slice || s.escaped[v.object] {
			return reflect.Value{}, false
		}
		elems := d.elements(s, v)
		if len(elems) != v.n {
			return reflect.Value{}, false
		}
		slice := reflect.MakeSlice(t, 0, len(elems))
		for _, e := range elems {
			element, ok := d.native(s, e, t.Elem())
			if !ok {
				return reflect.Value{}, false
			}
			slice = reflect.Append(slice, element)
		}
		return slice, true
	}
	return reflect.Value{}, false
}

// known is a value of this program as a known value.
func (d *Driver) known(s *State, site ssa.Instruction, v reflect.Value, t types.Type, part int) (Value, bool) {
	switch v.Kind() {
	case reflect.Bool:
		return KBool(v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return KInt(v.Int()), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return KInt(int64(v.Uint())), true
	case reflect.Float32, reflect.Float64:
		return KFloat(v.Float()), true
	case reflect.String:
		if v.Len() > longestText {
			return nil, false
		}
		return KStr(v.String()), true
	case reflect.Slice:
		slice, ok := t.Underlying().(*types.Slice)
		call, isCall := site.(*ssa.Call)
		if !ok || !isCall || int64(v.Len()) > mostElements(slice.Elem()) {
			return nil, false
		}
		if v.IsNil() {
			return KNil{}, true
		}
		var elems []Value
		for i := range v.Len() {
			e, ok := d.known(s, site, v.Index(i), slice.Elem(), part)
			if !ok {
				return nil, false
			}
			elems = append(elems, e)
		}
		return d.newSlice(s, call, slice, elems, v.Cap()), true
	case reflect.Interface:
		if v.IsNil() {
			return KNil{}, true
		}
		if err, ok := v.Interface().(error); ok {
			return d.nativeError(s, site, fmt.Sprintf("native %d", part), err), true
		}
	}
	return nil, false
}

// someError is an error of which only the text is known, and that it is not nil.
func (d *Driver) someError(s *State, site ssa.Instruction, what, message string) Value {
	t := d.world.errorString()
	p, ok := t.(*types.Pointer)
	if !ok {
		return Ifc{t, KStr(message)}
	}
	object := d.newObject(s, "error", here(s.top())+fmt.Sprintf("%s %p", what, site), p.Elem(), site.Pos()).(Ptr)
	d.replacePart(s, object.object, "/0", KStr(message))
	return Ifc{t, object}
}

// errorString is the type of what errors.New returns.
func (w *World) errorString() types.Type {
	for _, p := range w.program.AllPackages() {
		if p.Pkg.Path() == "errors" {
			if object := p.Pkg.Scope().Lookup("errorString"); object != nil {
				return types.NewPointer(object.Type())
			}
		}
	}
	return types.Typ[types.String]
}
