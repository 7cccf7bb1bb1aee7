// A bounded queue with a condition variable: whoever waits looks again when woken.
//
// verdict: terminates
package main

import "sync"

type queue struct {
	mu    sync.Mutex
	ready *sync.Cond
	full  bool
}

func (q *queue) put() {
	q.mu.Lock()
	q.full = true
	q.mu.Unlock()
	q.ready.Signal()
}

func (q *queue) take() {
	q.mu.Lock()
	for !q.full {
		q.ready.Wait()
	}
	q.full = false
	q.mu.Unlock()
}

func main() {
	q := &queue{}
	q.ready = sync.NewCond(&q.mu)
	go q.put()
	q.take()
}
