// sync.Once closes it once.
//
// verdict: terminates
package main

import "sync"

func main() {
	var once sync.Once
	done := make(chan struct{})
	stop := func() { once.Do(func() { close(done) }) }
	go stop()
	go stop()
	<-done
}
