// An iterator that is pulled runs only while `next` or `stop` waits for it, and `stop` runs what it has
// deferred.
//
// verdict: terminates
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
	next, stop := iter.Pull(numbers)
	first, _ := next()
	second, ok := next()
	if first != 0 || second != 1 || !ok {
		<-make(chan int)
	}
	stop()
	lock.Lock()
	defer lock.Unlock()
	if _, ok := next(); ok {
		<-make(chan int)
	}
}
