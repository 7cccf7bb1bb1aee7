// A sync.Cond that is used somewhere is copied: the copy panics when it is used, which is not followed.
//
// verdict: unknown
// model: terminates
// assumes: is copied
package main

import "sync"

func main() {
	var lock sync.Mutex
	first := sync.NewCond(&lock)
	first.Signal()
	second := *first
	failed := false
	func() {
		defer func() { failed = recover() != nil }()
		second.Signal()
	}()
	if failed {
		<-make(chan int)
	}
}
