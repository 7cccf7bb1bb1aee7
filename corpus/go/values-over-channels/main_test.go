// Values keep their identity, their width and their sign on the way through channels and atomics.
//
// verdict: TestNilAmongPointers deadlock
// verdict: TestNilAmongFunctions deadlock
// verdict: TestDecrementWraps deadlock
// verdict: TestLargeUnsigned deadlock
// verdict: TestTwoSlices deadlock
// verdict: TestPointerComesBack terminates
// verdict: TestComputedSwap terminates
package values

import (
	"math"
	"sync/atomic"
	"testing"
)

func never() { <-make(chan int) }

func TestNilAmongPointers(t *testing.T) {
	c := make(chan *int, 2)
	x := 5
	c <- nil
	c <- &x
	if p := <-c; p == nil {
		never()
	}
}

func TestNilAmongFunctions(t *testing.T) {
	c := make(chan func(), 2)
	x := 1
	c <- nil
	c <- func() { x++ }
	if f := <-c; f == nil {
		never()
	}
}

func TestDecrementWraps(t *testing.T) {
	var n atomic.Uint32
	done := make(chan bool)
	go func() {
		n.Add(1)
		done <- true
	}()
	<-done
	n.Add(^uint32(0))
	if n.Load() == 0 {
		never()
	}
}

func TestLargeUnsigned(t *testing.T) {
	c := make(chan uint64, 2)
	c <- math.MaxUint64
	c <- 1
	if <-c > 5 {
		never()
	}
}

func TestTwoSlices(t *testing.T) {
	c := make(chan []int, 2)
	for i := range 2 {
		c <- []int{i, i + 1}
	}
	first, second := <-c, <-c
	if first[0] != second[0] {
		never()
	}
}

func TestPointerComesBack(t *testing.T) {
	type pair struct{ a, b int }
	c, done := make(chan *pair), make(chan bool)
	go func() {
		p := <-c
		p.a++
		done <- true
	}()
	p := &pair{1, 2}
	c <- p
	<-done
	if p.a != 2 {
		never()
	}
}

func TestComputedSwap(t *testing.T) {
	var ready, taken atomic.Bool
	c := make(chan int, 1)
	go func() {
		ready.Store(true)
		c <- 1
	}()
	<-c
	taken.Swap(ready.Load())
	if !taken.CompareAndSwap(true, false) {
		never()
	}
}
