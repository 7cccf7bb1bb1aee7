// Everybody who waits is woken.
//
// verdict: terminates
package main

import "sync"

func main() {
	var mu sync.Mutex
	open := false
	gate := sync.NewCond(&mu)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			mu.Lock()
			for !open {
				gate.Wait()
			}
			mu.Unlock()
		})
	}
	mu.Lock()
	open = true
	gate.Broadcast()
	mu.Unlock()
	wg.Wait()
}
