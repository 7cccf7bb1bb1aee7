package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.go")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const sample = `package p

type g struct {
	a int
}

func f(c int) int {
	if c > 0 {
		println(c)
	}
	return c
}

func (x *g) run() {
	x.a = 1
	println(f(x.a))
}

func two() int {
	if true {
		return 1
	}
	return 2
}
`

func TestEditsKeepLines(t *testing.T) {
	edits := []edit{
		field{"g", "strait int"}, entry{"f", "before()"}, beforeReturn{"f", "after()"},
		exit{"(*g).run", "end()"}, rename{"(*g).run", "walk"}, substitute{"f", "println", "print"},
		condition{"f", "c > 0", "ok()"}, needs{"unsafe"},
		beforeStatement{"(*g).run", "println(f(x.a))", "first()"},
		beforeStatement{"(*g).run", "x.a = 1", "set()"},
	}
	changed, err := change{"x.go", edits}.apply(write(t, sample))
	if err != nil {
		t.Fatal(err)
	}
	text := string(changed)
	for _, want := range []string{
		`package p; import "unsafe"`, "strait int }", "func f(c int) int { before();", "after(); return c",
		"; end() }", "func (x *g) walk() {", "print(c)", "if c > 0 && ok() {", "first(); println(f(x.a))",
		"set(); x.a = 1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "\n") != strings.Count(sample, "\n") {
		t.Error("lines have moved")
	}
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	for _, one := range []edit{
		entry{"absent", "x()"}, field{"absent", "x int"}, beforeReturn{"two", "x()"}, exit{"f", "x()"},
		beforeCall{"f", "fatal", "x()"}, substitute{"f", "absent", "x"}, condition{"f", "absent", "x"},
		beforeStatement{"f", "absent()", "x()"},
		entry{"(*absent).run", "x()"},
	} {
		_, err := change{"x.go", []edit{one}}.apply(write(t, sample))
		if err == nil || !strings.Contains(err.Error(), "this version of Go does not fit: x.go has no") {
			t.Errorf("%#v: %v", one, err)
		}
	}
	if _, err := (change{"y.go", nil}).apply("nowhere.go"); err == nil {
		t.Error("a file that is not there")
	}
}

func TestThisVersionFits(t *testing.T) {
	out := t.TempDir()
	if err := overlay(runtime.GOROOT(), "../hooks", out); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(out, "overlay.json"))
	if err != nil || !strings.Contains(string(list), "runtime_select.go") {
		t.Fatal(err, string(list))
	}
}

func TestSelectsInSourceOrder(t *testing.T) {
	path := write(t, "package p\nfunc f(a, b chan int) {\n\tselect {\n\tcase x := <-a:\n\t\t_ = x\n\tcase b <- 1:\n\tdefault:\n\t}\n}\n")
	var out bytes.Buffer
	if err := selects([]string{path, "nowhere.go"}, &out); err != nil {
		t.Fatal(err)
	}
	want := `"line":3,"cases":[{"kind":"receive","line":4,"text":"x := \u003c-a"},{"kind":"send","line":6,"text":"b \u003c- 1"},{"kind":"default","line":7,"text":"default"}]`
	if !strings.Contains(out.String(), want) {
		t.Error(out.String())
	}
}
