// An early return keeps the lock.
//
// verdict: deadlock
package main

import (
	"errors"
	"os"
	"sync"
)

type cache struct {
	mu sync.Mutex
}

func (c *cache) load(name string) error {
	c.mu.Lock()
	if _, err := os.Stat(name); err != nil {
		return errors.New("no file")
	}
	c.mu.Unlock()
	return nil
}

func main() {
	c := &cache{}
	if c.load("a") != nil {
		c.load("b")
	}
}
