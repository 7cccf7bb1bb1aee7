// The signal may come before anybody waits, and nobody looks before waiting.
//
// verdict: deadlock
package main

import "sync"

func main() {
	var mu sync.Mutex
	ready := sync.NewCond(&mu)
	go func() {
		mu.Lock()
		ready.Signal()
		mu.Unlock()
	}()
	mu.Lock()
	ready.Wait()
	mu.Unlock()
}
