package examples

import "sync"

// Session can be closed by its owner and by a failure. Both look before they close, but not together:
// sometimes the channel is closed twice.
type Session struct {
	done chan struct{}
	mu   sync.Mutex
	over bool
}

// NewSession begins one.
func NewSession() *Session { return &Session{done: make(chan struct{})} }

// Close ends it.
func (s *Session) Close() {
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	if over {
		return
	}
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	close(s.done)
}

// Done is closed when it is over.
func (s *Session) Done() <-chan struct{} { return s.done }
