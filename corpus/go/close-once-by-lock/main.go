// The same with a lock around it: a shared flag is followed exactly.
//
// verdict: terminates
// channel-safe: true
package main

import "sync"

type stopper struct {
	mu      sync.Mutex
	stopped bool
	done    chan struct{}
}

func (s *stopper) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.stopped = true
	close(s.done)
}

func main() {
	s := &stopper{done: make(chan struct{})}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(s.stop)
	}
	wg.Wait()
	<-s.done
}
