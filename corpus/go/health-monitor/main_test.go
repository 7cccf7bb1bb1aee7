// The monitor wants the lock that is held by who waits for it to stop.
//
// verdict: TestHealth leak
package kernels

import (
	"fmt"
	"sync"
	"testing"
)

type State struct {
	Health *Health
	c      *Container
}
type Container struct {
	sync.Mutex
	State *State
}
type Health struct {
	sync.Mutex
	stop chan struct{}
}

func (h *Health) closeMonitor() {
	if h.stop != nil {
		h.stop <- struct{}{}
	}
}
func (h *Health) openMonitor() chan struct{} { return h.stop }

func monitor(c *Container, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
			c.Lock()
			c.Unlock()
		}
	}
}

func (d *Daemon) stopChecks(c *Container) {
	c.Lock()
	defer c.Unlock()
	c.State.Health.closeMonitor()
}

type Daemon struct{}

func (d *Daemon) StateChanged() {
	c := &Container{State: &State{Health: &Health{stop: make(chan struct{})}}}
	go monitor(c, c.State.Health.openMonitor())
	go d.stopChecks(c)
	fmt.Println("done")
}

func TestHealth(t *testing.T) {
	d := &Daemon{}
	d.StateChanged()
}
