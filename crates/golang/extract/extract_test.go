package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// extracted extracts programs, each the file of a package of its own, and gives the entries by
// package.
func extracted(t *testing.T, sources map[string]string) map[string]Entry {
	t.Helper()
	folder := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.25.0\n")
	for name, source := range sources {
		write(name+"/main.go", "package main\n\n"+source)
	}
	t.Chdir(folder)
	answer := extract(&Options{patterns: []string{"./..."}, folder: folder})
	if answer.Error != "" {
		t.Fatal(answer.Error)
	}
	entries := map[string]Entry{}
	for _, entry := range answer.Entries {
		entries[strings.TrimSuffix(strings.TrimPrefix(entry.Name, "example.com/m/"), ".main")] = entry
	}
	return entries
}

// Rows: a program, and the lines of its extraction without the braces around them.
var programs = []struct{ name, source, want string }{
	{"send", `func main() { c := make(chan int, 1); c <- 7; <-c }`,
		"main {\nchan c: unit[1]\nput c ()\nget c\nreturn\n}\n"},
	{"values", `func main() { c := make(chan int, 2); c <- 1; c <- 2; if <-c == 2 { close(c) } }`,
		"main {\nchan c: int[2]\nput c 1\nput c 2\nx_1 = get c\nif (x_1 == 2) {\nclose c\nreturn\n} else {\nreturn\n}\n}\n"},
	{"known", `func main() { c := make(chan bool); if len("ab") == 2 { close(c) } else { <-c } }`,
		"main {\nchan c: unit\nclose c\nreturn\n}\n"},
	{"unknown", `import "os"; func main() { c := make(chan bool, 1); if len(os.Args) > 2 { c <- true } else { <-c } }`,
		"main {\nchan c: unit[1]\nchoose {\nput c ()\nreturn\n} or {\nget c\nreturn\n}\n}\n"},
	{"unrolled", `func main() { c := make(chan int); for i := 0; i < 3; i++ { close(c) } }`,
		"main {\nchan c: unit\nclose c\nclose c\nclose c\nreturn\n}\n"},
	{"deferred", `import "sync"; func main() { var m sync.Mutex; m.Lock(); defer m.Unlock(); c := make(chan int); defer close(c) }`,
		"main {\nmutex m\nlock m\nchan c: unit\nclose c\nunlock m\nreturn\n}\n"},
	{"nil", `func main() { var c chan int; select { case <-c: case c <- 1: } }`,
		"main {\nselect {\nget nil {\nreturn\n}\nput nil () {\nreturn\n}\n}\n}\n"},
	{"timeout", `import "time"; func main() { c := make(chan int); select { case <-c: case <-time.After(1): } }`,
		"main {\nchan c: unit\nchan timer: unit[1]\nput timer ()\nselect {\nget c {\nreturn\n}\nget timer {\nreturn\n}\n}\n}\n"},
	{"recovered", `func main() { defer func() { recover() }(); c := make(chan int); defer close(c); panic("x") }`,
		"main {\nchan c: unit\nclose c\nreturn\n}\n"},
	{"panics", `func main() { panic("broken") }`,
		"main {\n}\n"},
	{"silent", `import "fmt"; func main() { for i := range 1000000 { fmt.Println(i) } }`,
		"main {\n}\n"},
}

func TestPrograms(t *testing.T) {
	sources := map[string]string{}
	for _, row := range programs {
		sources[row.name] = row.source
	}
	entries := extracted(t, sources)
	for _, row := range programs {
		entry := entries[row.name]
		var lines []string
		for _, line := range strings.Split(strings.TrimSuffix(entry.Text, "\n"), "\n") {
			lines = append(lines, strings.TrimSpace(line))
		}
		if got := strings.Join(lines, "\n") + "\n"; got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", row.name, got, row.want)
		}
		if len(entry.Assumptions) > 0 {
			t.Errorf("%s assumes %v", row.name, entry.Assumptions[0])
		}
	}
}

// Each line of a program has the position of the Go statement it comes from.
func TestPositions(t *testing.T) {
	source := "func main() {\n\tc := make(chan int)\n\tgo func() {\n\t\tc <- 1\n\t}()\n\t<-c\n}\n"
	entry := extracted(t, map[string]string{"p": source})["p"]
	want := map[string]int{"chan c": 4, "spawn {": 5, "put c": 6, "get c": 8}
	lines := strings.Split(entry.Text, "\n")
	for text, line := range want {
		found := false
		for i, written := range lines {
			if strings.HasPrefix(strings.TrimSpace(written), text) {
				found = true
				if at := entry.Positions[entry.Lines[i]-1]; at.Line != line || at.File != "p/main.go" {
					t.Errorf("%q is at %v, want line %d", written, at, line)
				}
			}
		}
		if !found {
			t.Errorf("no %q in\n%s", text, entry.Text)
		}
	}
}

// What goroutines do that package initialisation starts is marked, and nothing else.
func TestDaemons(t *testing.T) {
	source := "var c = make(chan int)\nfunc init() {\n\tgo func() {\n\t\tfor range c {\n\t\t}\n\t}()\n}\nfunc main() {\n\tc <- 1\n}\n"
	entry := extracted(t, map[string]string{"p": source})["p"]
	marked := map[string]bool{}
	for i, written := range strings.Split(entry.Text, "\n") {
		if i < len(entry.Lines) && entry.Lines[i] > 0 {
			words := strings.Fields(written)
			if len(words) > 2 && words[len(words)-2] == "get" {
				marked["get"] = entry.Positions[entry.Lines[i]-1].Daemon
			}
			marked[words[0]] = marked[words[0]] || entry.Positions[entry.Lines[i]-1].Daemon && words[0] == "put"
		}
	}
	if !marked["get"] || marked["put"] {
		t.Errorf("marked are %v in\n%s", marked, entry.Text)
	}
}

// What is not followed is said, with its line.
func TestAssumptions(t *testing.T) {
	rows := []struct{ name, source, want string }{
		{"handed", "import \"sort\"\nfunc main() {\n\tc := make(chan int)\n\tsort.Slice([]int{1}, func(i, j int) bool {\n\t\tc <- 1\n\t\treturn true\n\t})\n}\n", ""},
		{"signals", "import \"os/signal\"\nimport \"os\"\nfunc main() {\n\tc := make(chan os.Signal, 1)\n\tsignal.Notify(c)\n\tsignal.Reset()\n\t<-c\n}\n", string(aboutSignals)},
		{"outside", "import \"os/signal\"\nimport \"os\"\nfunc main() {\n\tc := make(chan os.Signal, 1)\n\tgo func() { <-c }()\n\tsignal.Notify(c)\n}\n", ""},
		{"signal", "import \"os/signal\"\nimport \"os\"\nfunc main() {\n\tc := make(chan os.Signal, 1)\n\tsignal.Notify(c)\n\t<-c\n}\n", ""},
		{"reset", "import \"time\"\nfunc main() {\n\tc := make(chan int, 1)\n\tt := time.AfterFunc(1, func() { c <- 1 })\n\tt.Reset(2)\n\t<-c\n}\n", string(aboutResetFunction)},
		{"processors", "import \"runtime\"\nfunc main() {\n\tc := make(chan int, 1)\n\tfor range runtime.NumCPU() {\n\t\tgo func() { c <- 1 }()\n\t}\n\t<-c\n}\n", string(aboutProcessors)},
		{"capacity", "import \"os\"\nfunc main() {\n\tc := make(chan int, len(os.Args))\n\tc <- 1\n}\n", string(aboutUnknownCapacity)},
		{"parameter", "var hooks []func()\nfunc main() {\n\tc := make(chan int, 1)\n\tfor _, hook := range hooks {\n\t\thook()\n\t}\n\tc <- 1\n}\n", ""},
	}
	sources := map[string]string{}
	for _, row := range rows {
		sources[row.name] = row.source
	}
	entries := extracted(t, sources)
	for _, row := range rows {
		var messages []string
		for _, a := range entries[row.name].Assumptions {
			messages = append(messages, string(a.About))
			if a.Position == nil || a.Position.Line < 3 {
				t.Errorf("%s: %q has no position", row.name, a.About)
			}
		}
		if said := strings.Join(messages, "; "); !strings.Contains(said, row.want) || row.want == "" && said != "" {
			t.Errorf("%s assumes %q, want %q", row.name, said, row.want)
		}
	}
}

// A loop is bounded when a counter moves towards something that does not change.
func TestRanking(t *testing.T) {
	rows := []struct {
		name, head string
		bounded    bool
	}{
		{"up", "for i := 0; i < n; i++", true},
		{"down", "for i := n; i > 0; i -= 2", true},
		{"away", "for i := 0; i < n; i--", false},
		{"bound", "for i := 0; i < n; n++", false},
		{"other", "for i := 0; i*i != n; i++", false},
		{"range", "for range os.Args", true},
		{"map", "for range m", true},
	}
	sources := map[string]string{}
	for _, row := range rows {
		use := ""
		if strings.Contains(row.head, "i ") || strings.Contains(row.head, "i*") {
			use = "_ = i; "
		}
		sources[row.name] = "import \"os\"\nvar m map[string]int\nfunc main() {\n\tn := len(os.Args)\n\t_ = n\n\tm = map[string]int{os.Args[0]: 1}\n\tc := make(chan int, 1)\n\t" + row.head + " {\n\t\t" + use + "select { case c <- 1: default: }\n\t}\n}\n"
	}
	entries := extracted(t, sources)
	for _, row := range rows {
		loops := entries[row.name].Loops
		if len(loops) != 1 || loops[0].Bounded != row.bounded {
			t.Errorf("%s: %v, want bounded %t", row.head, loops, row.bounded)
		}
	}
}

// locks is code that locks a variable, having made it or not, and ends.
func locks(name string, makes bool) *Code {
	c := &Code{op: opSync, note: "lock", on: variable(name), next: &Code{op: opEnd}}
	if makes {
		return &Code{op: opLockNew, note: "mutex", name: name, next: c}
	}
	return c
}

func TestArmsHaveVariablesOfTheirOwn(t *testing.T) {
	for _, arms := range [][]*Code{{locks("m", false), locks("m", true)}, {locks("m", true), locks("m", false)}} {
		needed := map[string]bool{}
		free(&Code{op: opChoose, arms: arms}, needed)
		if !needed["m"] || len(needed) != 1 {
			t.Errorf("one arm takes m from outside, but %v is needed", needed)
		}
	}
}

func TestOnlyArmsThatDoTheSameAreOne(t *testing.T) {
	for _, row := range []struct {
		one, other *Code
		arms       int
	}{
		{locks("a", false), locks("b", false), 2},
		{locks("a", false), locks("a", true), 2},
		{locks("a", false), locks("a", false), 1},
		{locks("a", true), locks("b", true), 1},
	} {
		left := (&Driver{}).sameArms(&Code{op: opChoose, arms: []*Code{row.one, row.other}})
		arms := 1
		if left.op == opChoose {
			arms = len(left.arms)
		}
		if arms != row.arms {
			t.Errorf("%d arms are left instead of %d", arms, row.arms)
		}
	}
}
