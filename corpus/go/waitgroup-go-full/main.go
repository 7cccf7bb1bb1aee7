// A buffer too small for what goroutines put into it before anybody takes it out.
//
// verdict: deadlock
package main

import (
	"sync"
)

func main() {
	var wg sync.WaitGroup
	c := make(chan int, 2)
	for i := range 3 {
		wg.Go(func() { c <- i })
	}
	wg.Wait()
	close(c)
	for v := range c {
		println(v)
	}
}
