// A reader that reads again, and a writer in between who keeps new readers out.
//
// verdict: deadlock
package main

import (
	"sync"
)

type store struct {
	mu sync.RWMutex
	n  int
}

func (s *store) size() int { s.mu.RLock(); defer s.mu.RUnlock(); return s.n }

func (s *store) report() int { s.mu.RLock(); defer s.mu.RUnlock(); return s.size() + 1 }

func (s *store) add() { s.mu.Lock(); s.n++; s.mu.Unlock() }

func main() {
	s := &store{}
	done := make(chan struct{})
	go func() { s.add(); close(done) }()
	println(s.report())
	<-done
}
