// A goroutine publishes an object by an atomic pointer. Whoever reads the pointer again after it was
// nil gets the object that is there now.
//
// verdict: TestWaits diverges
// verdict: TestFull deadlock
// verdict: TestTwice terminates
package published

import (
	"sync/atomic"
	"testing"
)

type box struct{ ch chan int }

func TestWaits(t *testing.T) {
	var p atomic.Pointer[box]
	go func() { p.Store(&box{make(chan int, 1)}) }()
	for {
		if b := p.Load(); b != nil {
			b.ch <- 1
			return
		}
	}
}

func TestFull(t *testing.T) {
	var p atomic.Pointer[box]
	go func() { p.Store(&box{make(chan int)}) }()
	for {
		if b := p.Load(); b != nil {
			b.ch <- 1
			return
		}
	}
}

func TestTwice(t *testing.T) {
	var p atomic.Pointer[box]
	go func() { p.Store(&box{make(chan int, 1)}) }()
	b := p.Load()
	if b == nil {
		b = p.Load()
	}
	if b != nil {
		b.ch <- 1
	}
}
