// Subscribers in a map behind a lock, messages in buffers.
//
// verdict: terminates
package main

import (
	"sync"
)

type bus struct {
	mu   sync.RWMutex
	subs map[string][]chan string
}

func (b *bus) sub(topic string) chan string {
	c := make(chan string, 1)
	b.mu.Lock()
	b.subs[topic] = append(b.subs[topic], c)
	b.mu.Unlock()
	return c
}

func (b *bus) pub(topic, msg string) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, c := range b.subs[topic] {
		c <- msg
	}
}

func main() {
	b := &bus{subs: map[string][]chan string{}}
	x, y := b.sub("a"), b.sub("a")
	go b.pub("a", "hi")
	println(<-x, <-y)
}
