// A panic is recovered; the deferred calls run in their order, so that the lock is free again.
//
// verdict: terminates
package main

import "sync"

var mu sync.Mutex

func risky() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = nil
		}
	}()
	mu.Lock()
	defer mu.Unlock()
	panic("no")
}

func main() {
	risky()
	mu.Lock()
	mu.Unlock()
}
