// What is locked under an unknown condition is unlocked under the same one.
//
// verdict: terminates
package main

import (
	"os"
	"sync"
)

func main() {
	var mu sync.Mutex
	careful := len(os.Args) > 1
	done := make(chan bool)
	go func() {
		mu.Lock()
		mu.Unlock()
		done <- true
	}()
	if careful {
		mu.Lock()
	}
	println("working")
	if careful {
		mu.Unlock()
	}
	<-done
}
