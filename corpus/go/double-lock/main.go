// A method that holds the lock calls another that wants it.
//
// verdict: deadlock
package main

import "sync"

type store struct {
	mu    sync.Mutex
	items map[string]int
}

func (s *store) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.items)
}

func (s *store) add(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[key] = s.size()
}

func main() {
	s := &store{items: map[string]int{}}
	s.add("a")
}
