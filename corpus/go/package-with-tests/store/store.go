// Package store keeps keys behind a lock.
package store

import "sync"

// Store is a set of keys.
type Store struct {
	mu   sync.Mutex
	keys map[string]bool
}

// New is a store with one key.
func New() *Store { return &Store{keys: map[string]bool{"first": true}} }

// Each calls a function with every key.
func (s *Store) Each(visit func(key string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.keys {
		visit(key)
	}
}

// Delete removes a key.
func (s *Store) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, key)
}
