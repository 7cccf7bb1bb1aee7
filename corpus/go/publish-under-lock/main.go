// The publisher holds the lock that the subscriber needs in order to go away.
//
// verdict: deadlock
package main

import (
	"sync"
)

type bus struct {
	mu   sync.Mutex
	subs map[int]chan string
	next int
}

func (b *bus) sub() (int, chan string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := make(chan string)
	b.next++
	b.subs[b.next] = c
	return b.next, c
}

func (b *bus) unsub(id int) { b.mu.Lock(); defer b.mu.Unlock(); delete(b.subs, id) }

func (b *bus) pub(msg string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.subs {
		c <- msg
	}
}

func main() {
	b := &bus{subs: map[int]chan string{}}
	id, c := b.sub()
	done := make(chan bool)
	go func() { <-c; b.unsub(id); close(done) }()
	b.pub("one")
	b.pub("two")
	<-done
}
