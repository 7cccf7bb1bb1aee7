// Command strait-extract reads Go packages and writes, for each entry, a program of Strait's
// language that does what other goroutines can notice of it.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"strings"
)

type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

// Options are what the command line says.
type Options struct {
	patterns []string
	entries  list
	noTests  bool
	tags     string
	folder   string
}

// Position is a place in Go source.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Is this done by a goroutine that the initialisation of a package has started?
	Daemon bool `json:"daemon,omitempty"`
	// Is this a choice because the extraction does not follow the data that decides it?
	Imprecise bool `json:"imprecise,omitempty"`
	// May a deferred call recover if this operation panics?
	Recovered bool `json:"recovered,omitempty"`
}

// Assumption is something that was not lowered as it is.
type Assumption struct {
	Position      *Position `json:"position"`
	About         About     `json:"about"`
	Subject       string    `json:"subject,omitempty"`
	Approximation string    `json:"approximation"`
}

// Loop is a loop whose end the program leaves open.
type Loop struct {
	Position Position `json:"position"`
	Bounded  bool     `json:"bounded"`
	Why      string   `json:"why"`
}

// Operations count what is reached and what is exact.
type Operations struct {
	Reached int `json:"reached"`
	Exact   int `json:"exact"`
}

// Entry is one program.
type Entry struct {
	Name        string       `json:"name"`
	Position    Position     `json:"position"`
	Text        string       `json:"text"`
	Positions   []Position   `json:"positions"`
	Lines       []int        `json:"lines"`
	Assumptions []Assumption `json:"assumptions"`
	Loops       []Loop       `json:"loops"`
	Migo        string       `json:"migo"`
	Operations  Operations   `json:"operations"`
	Truncated   bool         `json:"truncated"`
	// Is the entry a test? Then it must come to an end.
	Test bool `json:"test,omitempty"`
	// The Go names of the program's functions and objects.
	Names map[string]string `json:"names,omitempty"`
	// The same with less data, for when the states of this program have no end.
	Coarse *Entry `json:"coarse,omitempty"`
}

// Answer is everything.
type Answer struct {
	Error    string       `json:"error,omitempty"`
	Entries  []Entry      `json:"entries"`
	Warnings []Assumption `json:"warnings"`
	Lines    int          `json:"lines"`
}

func main() {
	var options Options
	flag.Var(&options.entries, "entry", "extract this function only; may be repeated")
	flag.BoolVar(&options.noTests, "no-tests", false, "leave tests out")
	flag.StringVar(&options.tags, "tags", "", "build tags")
	text := flag.Bool("text", false, "print the programs as text, for people")
	profile := flag.String("cpuprofile", "", "write a profile of this program")
	flag.Parse()
	if *profile != "" {
		if file, err := os.Create(*profile); err == nil && pprof.StartCPUProfile(file) == nil {
			defer pprof.StopCPUProfile()
		}
	}
	// Memory is there to be used, within bounds: collecting less often saves a third of the time.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(3 << 29)
	options.patterns = flag.Args()
	if len(options.patterns) == 0 {
		options.patterns = []string{"./..."}
	}
	folder, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if resolved, err := filepath.EvalSymlinks(folder); err == nil {
		folder = resolved
	}
	options.folder = folder
	answer := extract(&options)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	if *text {
		for _, entry := range answer.Entries {
			fmt.Fprintf(out, "// %s\n%s", entry.Name, entry.Text)
			for _, a := range entry.Assumptions {
				fmt.Fprintf(out, "// %s %v: %s\n", a.Approximation, a.Position, string(a.About)+" "+a.Subject)
			}
			for _, l := range entry.Loops {
				fmt.Fprintf(out, "// loop %v: bounded %t, %s\n", l.Position, l.Bounded, l.Why)
			}
			fmt.Fprintf(out, "// %d of %d operations exact\n\n", entry.Operations.Exact, entry.Operations.Reached)
		}
		for _, w := range answer.Warnings {
			fmt.Fprintf(out, "// warning %v: %s\n", w.Position, string(w.About)+" "+w.Subject)
		}
		if answer.Error != "" {
			fmt.Fprintln(out, answer.Error)
		}
		return
	}
	encoder := json.NewEncoder(out)
	if err := encoder.Encode(answer); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
