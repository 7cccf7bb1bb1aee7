// A function of sync.OnceFunc that panics does so in every call, with the same value.
//
// verdict: TestFine terminates
// verdict: TestPanicsAgain deadlock
// verdict: TestValuePanicsAgain deadlock
package oncefunc

import (
	"sync"
	"testing"
)

func calls(f func()) (recovered any) {
	defer func() { recovered = recover() }()
	f()
	return nil
}

func TestFine(t *testing.T) {
	n := 0
	f := sync.OnceFunc(func() { n++; panic("x") })
	if calls(f) != "x" || calls(f) != "x" || n != 1 {
		<-make(chan int)
	}
}

func TestPanicsAgain(t *testing.T) {
	f := sync.OnceFunc(func() { panic("x") })
	calls(f)
	if calls(f) == "x" {
		<-make(chan int)
	}
}

func TestValuePanicsAgain(t *testing.T) {
	f := sync.OnceValue(func() int { panic("x") })
	g := func() { f() }
	calls(g)
	if calls(g) == "x" {
		<-make(chan int)
	}
}
