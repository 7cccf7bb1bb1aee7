// A buffer of one place, with two conditions.
//
// verdict: terminates
package main

import (
	"sync"
)

type buffer struct {
	mu                sync.Mutex
	notEmpty, notFull *sync.Cond
	n, cap            int
}

func newBuffer(n int) *buffer {
	b := &buffer{cap: n}
	b.notEmpty, b.notFull = sync.NewCond(&b.mu), sync.NewCond(&b.mu)
	return b
}

func (b *buffer) put() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.n == b.cap {
		b.notFull.Wait()
	}
	b.n++
	b.notEmpty.Signal()
}

func (b *buffer) get() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.n == 0 {
		b.notEmpty.Wait()
	}
	b.n--
	b.notFull.Signal()
}

func main() {
	b := newBuffer(1)
	done := make(chan bool)
	go func() {
		for range 3 {
			b.put()
		}
		done <- true
	}()
	for range 3 {
		b.get()
	}
	<-done
}
