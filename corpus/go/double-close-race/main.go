// Whoever comes first closes the channel; nothing keeps the second from doing it again.
//
// verdict: panic
// channel-safe: false
package main

import "sync"

type stopper struct {
	stopped bool
	done    chan struct{}
}

func (s *stopper) stop() {
	if !s.stopped {
		s.stopped = true
		close(s.done)
	}
}

func main() {
	s := &stopper{done: make(chan struct{})}
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			s.stop()
			wg.Done()
		}()
	}
	wg.Wait()
}
