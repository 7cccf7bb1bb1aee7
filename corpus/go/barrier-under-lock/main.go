// Whoever waits at the barrier keeps the others from coming there.
//
// verdict: deadlock
package main

import (
	"sync"
)

type barrier struct {
	mu sync.Mutex
	n  int
	c  chan struct{}
}

func (b *barrier) wait() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n--
	if b.n == 0 {
		close(b.c)
	}
	<-b.c
}

func main() {
	b := &barrier{n: 3, c: make(chan struct{})}
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() { defer wg.Done(); b.wait() }()
	}
	wg.Wait()
}
