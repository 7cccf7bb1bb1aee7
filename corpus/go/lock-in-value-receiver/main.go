// A method with a value receiver has a copy of the lock. It replaces and locks the copy, so calling
// it while the original is held does not block.
//
// verdict: terminates
package main

import "sync"

type gauge struct {
	mu    sync.Mutex
	value int
}

func (g gauge) read() int {
	g.mu = sync.Mutex{}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.value
}

func main() {
	g := &gauge{value: 1}
	g.mu.Lock()
	if g.read() != 1 {
		select {}
	}
	g.mu.Unlock()
}
