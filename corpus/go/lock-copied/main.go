// A struct is copied while its lock is held: the copy is a lock of its own that is held as well, and
// no unlock of the original releases it.
//
// verdict: deadlock
package main

import "sync"

type account struct {
	mu      sync.Mutex
	balance int
}

func main() {
	var first account
	first.mu.Lock()
	second := first
	first.mu.Unlock()
	second.mu.Lock()
	second.balance++
	second.mu.Unlock()
}
