// A send while holding a lock that the receiver wants first.
//
// verdict: deadlock
package main

import "sync"

type bus struct {
	mu     sync.Mutex
	events chan int
	seen   int
}

func (b *bus) publish(event int) {
	b.mu.Lock()
	b.events <- event
	b.mu.Unlock()
}

func (b *bus) next() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen++
	return <-b.events
}

func main() {
	b := &bus{events: make(chan int)}
	go b.publish(1)
	b.next()
}
