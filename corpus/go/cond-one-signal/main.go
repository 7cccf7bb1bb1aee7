// Two wait, one is woken.
//
// verdict: deadlock
package main

import (
	"sync"
)

// Two waiters, one Signal instead of Broadcast.
func main() {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	ready := false
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			for !ready {
				cond.Wait()
			}
			mu.Unlock()
		}()
	}
	mu.Lock()
	ready = true
	mu.Unlock()
	cond.Signal()
	wg.Wait()
}
