// A reader reads again while a writer waits in between.
//
// verdict: deadlock
package main

import "sync"

type config struct {
	sync.RWMutex
	value int
}

func (c *config) get() int {
	c.RLock()
	defer c.RUnlock()
	return c.value
}

func (c *config) twice() int {
	c.RLock()
	defer c.RUnlock()
	return c.get() * 2
}

func main() {
	c := new(config)
	done := make(chan struct{})
	go func() {
		c.Lock()
		c.value = 1
		c.Unlock()
		close(done)
	}()
	c.twice()
	<-done
}
