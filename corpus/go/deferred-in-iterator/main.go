// A defer in the body of a range over a function runs when the function around it returns, last
// first: the message is sent before the lock is released, and its receiver waits for the lock.
//
// verdict: deadlock
package main

import (
	"iter"
	"sync"
)

func both(yield func(int) bool) {
	_ = yield(0) && yield(1)
}

func announce(mu *sync.Mutex, locked chan<- bool, news chan<- int, numbers iter.Seq[int]) {
	for n := range numbers {
		if n == 0 {
			mu.Lock()
			close(locked)
			defer mu.Unlock()
		} else {
			defer func() { news <- n }()
		}
	}
}

func main() {
	var mu sync.Mutex
	locked, news := make(chan bool), make(chan int)
	go func() {
		<-locked
		mu.Lock()
		defer mu.Unlock()
		<-news
	}()
	announce(&mu, locked, news, both)
}
