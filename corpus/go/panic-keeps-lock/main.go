// A panic is recovered, but nobody unlocks.
//
// verdict: deadlock
package main

import "sync"

var mu sync.Mutex

func risky() {
	defer func() { recover() }()
	mu.Lock()
	panic("no")
}

func main() {
	risky()
	mu.Lock()
}
