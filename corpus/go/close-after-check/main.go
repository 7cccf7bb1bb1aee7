// To look whether somebody has stopped it, and then to stop it, is not one step.
//
// verdict: panic
package main

import (
	"sync/atomic"
)

type stopper struct {
	stopped atomic.Bool
	c       chan struct{}
}

func (s *stopper) stop() {
	if !s.stopped.Load() {
		s.stopped.Store(true)
		close(s.c)
	}
}

func main() {
	s := &stopper{c: make(chan struct{})}
	go s.stop()
	go s.stop()
	<-s.c
}
