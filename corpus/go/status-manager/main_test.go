// A send under a lock that the receiver takes before it receives again.
//
// verdict: TestStatus deadlock
package kernels

import (
	"sync"
	"testing"
)

type syncer interface {
	setStatus(id int)
	syncAll()
}
type manager struct {
	mu      sync.RWMutex
	changes chan int
	m       map[int]int
}

func (s *manager) setStatus(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes <- id
}
func (s *manager) syncAll() {
	for {
		<-s.changes
		s.deleteStatus()
	}
}
func (s *manager) deleteStatus() {
	s.mu.Lock()
	defer s.mu.Unlock()
}
func newManager() syncer {
	return &manager{changes: make(chan int)}
}

func TestStatus(t *testing.T) {
	var s syncer = newManager()
	go s.syncAll()
	s.setStatus(1)
	s.setStatus(2)
	s.setStatus(3)
}
