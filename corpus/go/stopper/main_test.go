// The worker sees the stop before it sends what the test waits for.
//
// verdict: TestStopper deadlock
package kernels

import (
	"sync"
	"testing"
)

type Stopper struct {
	stopper  chan struct{}
	stop     sync.WaitGroup
	mu       sync.Mutex
	drain    *sync.Cond
	draining bool
	numTasks int
}

func NewStopper() *Stopper {
	s := &Stopper{stopper: make(chan struct{})}
	s.drain = sync.NewCond(&s.mu)
	return s
}

func (s *Stopper) RunWorker(f func()) {
	s.stop.Add(1)
	go func() {
		defer s.stop.Done()
		f()
	}()
}
func (s *Stopper) StartTask() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	s.numTasks++
	return true
}
func (s *Stopper) FinishTask() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.numTasks--
	s.drain.Broadcast()
}
func (s *Stopper) ShouldStop() <-chan struct{} { return s.stopper }
func (s *Stopper) Stop() {
	s.mu.Lock()
	s.draining = true
	for s.numTasks > 0 {
		s.drain.Wait()
	}
	s.mu.Unlock()
	close(s.stopper)
	s.stop.Wait()
}

type event func()
type transport struct {
	mu      sync.Mutex
	Events  chan event
	stopper *Stopper
}

func (lt *transport) start() {
	lt.stopper.RunWorker(func() {
		for {
			select {
			case <-lt.stopper.ShouldStop():
				return
			default:
				lt.Events <- func() {}
			}
		}
	})
}

func TestStopper(t *testing.T) {
	stopper := NewStopper()
	lt := &transport{Events: make(chan event), stopper: stopper}
	lt.start()
	if stopper.StartTask() {
		stopper.FinishTask()
	}
	go stopper.Stop()
	f := <-lt.Events
	f()
}
