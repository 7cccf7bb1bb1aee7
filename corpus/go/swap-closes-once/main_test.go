// An atomic Swap reads and writes in one step: only one goroutine sees the old value.
//
// verdict: TestSwap terminates
// verdict: TestSwapFunction terminates
// verdict: TestSwapPointer terminates
// verdict: TestLoadAndStore panic
package swap

import (
	"sync"
	"sync/atomic"
	"testing"
)

func twice(f func()) {
	var group sync.WaitGroup
	for range 2 {
		group.Go(f)
	}
	group.Wait()
}

func TestSwap(t *testing.T) {
	var closed atomic.Bool
	c := make(chan int)
	twice(func() {
		if !closed.Swap(true) {
			close(c)
		}
	})
	<-c
}

func TestSwapFunction(t *testing.T) {
	var closed int32
	c := make(chan int)
	twice(func() {
		if atomic.SwapInt32(&closed, 1) == 0 {
			close(c)
		}
	})
}

func TestSwapPointer(t *testing.T) {
	var p atomic.Pointer[chan int]
	c := make(chan int)
	p.Store(&c)
	twice(func() {
		if q := p.Swap(nil); q != nil {
			close(*q)
		}
	})
}

func TestLoadAndStore(t *testing.T) {
	var closed atomic.Bool
	c := make(chan int)
	twice(func() {
		if !closed.Load() {
			closed.Store(true)
			close(c)
		}
	})
}
