// A lock is taken and never released. No goroutine wants it afterwards, so nothing blocks.
//
// verdict: terminates
// locks-released: false
package main

import (
	"os"
	"sync"
)

type cache struct {
	mu   sync.Mutex
	size int
}

func (c *cache) grow() bool {
	c.mu.Lock()
	if len(os.Args) > 1 {
		return false
	}
	c.size++
	c.mu.Unlock()
	return true
}

func main() {
	var c cache
	c.grow()
}
