// Package cache starts two goroutines that only Close ends.
package cache

// Cache is a small cache.
type Cache struct {
	requests chan string
	stop     chan struct{}
}

// New starts the goroutines of a cache.
func New() *Cache {
	c := &Cache{requests: make(chan string), stop: make(chan struct{})}
	go c.serve()
	go c.clean()
	return c
}

func (c *Cache) serve() {
	for {
		select {
		case <-c.requests:
		case <-c.stop:
			return
		}
	}
}

func (c *Cache) clean() { <-c.stop }

// Get asks for a key.
func (c *Cache) Get(key string) { c.requests <- key }

// Close ends the goroutines.
func (c *Cache) Close() { close(c.stop) }
