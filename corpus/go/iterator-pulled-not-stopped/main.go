// Without `stop` a pulled iterator keeps its lock.
//
// verdict: deadlock
package main

import (
	"iter"
	"sync"
)

var lock sync.Mutex

func numbers(yield func(int) bool) {
	lock.Lock()
	defer lock.Unlock()
	for i := range 5 {
		if !yield(i) {
			return
		}
	}
}

func main() {
	next, _ := iter.Pull(numbers)
	next()
	lock.Lock()
}
