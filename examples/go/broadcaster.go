package examples

import "sync"

// Broadcaster distributes events (figure 6 of the paper).
type Broadcaster struct {
	incoming chan string
	mu       sync.Mutex
	count    int
}

// NewBroadcaster starts the loop, which ends when Shutdown is called.
func NewBroadcaster() *Broadcaster {
	b := &Broadcaster{incoming: make(chan string, 4)}
	go b.loop()
	return b
}

func (b *Broadcaster) loop() {
	for range b.incoming {
		b.mu.Lock()
		b.count++
		b.mu.Unlock()
	}
}

// Send queues an event.
func (b *Broadcaster) Send(event string) { b.incoming <- event }

// Shutdown ends the loop.
func (b *Broadcaster) Shutdown() { close(b.incoming) }
