// Initialisers that take many steps are run only if a test uses what they set.
//
// verdict: TestTable terminates
// verdict: TestTableWrong deadlock
// verdict: TestSideEffect deadlock
// verdict: TestRegistry deadlock
// verdict: TestAlias terminates
package large

import (
	"fmt"
	"testing"
)

var squares = func() (table [64]int) {
	for i := range table {
		table[i] = i * i
	}
	initialised++
	return table
}()

var initialised int

var registry = map[string]func(){}

var _ = register(3)

func register(n int) int {
	for i := range n {
		registry[fmt.Sprint("name", i)] = func() {}
	}
	registry["wait"] = func() { <-make(chan int) }
	return n
}

type codec struct{ ids [40]int }

func newCodec() *codec {
	c := &codec{}
	for i := range c.ids {
		c.ids[i] = i
	}
	return c
}

var standard = newCodec()
var alias = standard

func TestTable(t *testing.T) {
	if squares[5] != 25 {
		<-make(chan int)
	}
}

func TestTableWrong(t *testing.T) {
	if squares[6] == 36 {
		<-make(chan int)
	}
}

func TestSideEffect(t *testing.T) {
	if initialised == 1 {
		<-make(chan int)
	}
}

func TestRegistry(t *testing.T) {
	if wait, ok := registry["wait"]; ok {
		wait()
	}
}

func TestAlias(t *testing.T) {
	if alias == nil || alias.ids[7] != 7 {
		<-make(chan int)
	}
}
