// Two goroutines lock every lock of a map in the order of their range, which Go chooses anew for
// each range.
//
// verdict: deadlock
package main

import "sync"

func lockAll(locks map[string]*sync.Mutex, done chan<- bool) {
	for _, lock := range locks {
		lock.Lock()
	}
	for _, lock := range locks {
		lock.Unlock()
	}
	done <- true
}

func main() {
	locks := map[string]*sync.Mutex{"users": {}, "orders": {}}
	done := make(chan bool)
	go lockAll(locks, done)
	go lockAll(locks, done)
	<-done
	<-done
}
