// Printing calls the String method of what is printed, which takes the lock that is held.
//
// verdict: deadlock
package main

import (
	"fmt"
	"sync"
)

type session struct {
	mu   sync.Mutex
	user string
}

func (s *session) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user
}

func (s *session) rename(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = user
	return fmt.Sprintf("renamed: %v", s)
}

func main() {
	_ = new(session).rename("ada")
}
