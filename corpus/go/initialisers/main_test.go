// What init functions set and register is there when a test begins; what no test has a use for
// changes nothing.
//
// verdict: TestSetByInit deadlock
// verdict: TestFilledByInit terminates
// verdict: TestFunctionFromInit deadlock
// verdict: TestSetOnce terminates
// verdict: TestConditionInInitialiser deadlock
// verdict: TestRegistered deadlock
package initialisers

import (
	"os"
	"sync"
	"testing"
)

type driver interface{ open(c chan int) }

type slow struct{}

func (slow) open(c chan int) { <-c }

var (
	level    int
	table    = map[string]int{}
	wait     func(c chan int)
	once     sync.Once
	late     int
	weights  = map[string]int{"a": 1, "b": 2}
	heavy    = len(weights) > 1 && weights["a"] == 1
	verbose  = os.Getenv("VERBOSE") != "" || len(os.Args) > 30
	drivers  = map[string]driver{}
	unused   = makeTable()
	register = func(name string, d driver) { drivers[name] = d }
)

func makeTable() (t [256]byte) {
	for i := range t {
		t[i] = byte(i * 7)
	}
	return t
}

func init() { level = 5 }

func init() {
	for i, name := range []string{"a", "b", "c"} {
		table[name] = i
	}
	wait = func(c chan int) { <-c }
	once.Do(func() { late = 7 })
	register("slow", slow{})
}

func never() { <-make(chan int) }

func TestSetByInit(t *testing.T) {
	if level == 5 {
		never()
	}
}

func TestFilledByInit(t *testing.T) {
	if table["c"] != 2 {
		never()
	}
}

func TestFunctionFromInit(t *testing.T) { wait(make(chan int)) }

func TestSetOnce(t *testing.T) {
	if late != 7 {
		never()
	}
}

func TestConditionInInitialiser(t *testing.T) {
	if verbose {
		t.Log(unused)
	}
	if heavy {
		never()
	}
}

func TestRegistered(t *testing.T) { drivers["slow"].open(make(chan int)) }
