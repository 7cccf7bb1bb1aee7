// A goroutine that ends by Goexit goes on ending when a deferred call panics and another recovers.
//
// verdict: terminates
package main

import "runtime"

func main() {
	ended := make(chan struct{})
	after := false
	go func() {
		defer close(ended)
		func() {
			defer func() { _ = recover() }()
			defer func() { panic("while ending") }()
			runtime.Goexit()
		}()
		after = true
	}()
	<-ended
	if after {
		<-make(chan int)
	}
}
