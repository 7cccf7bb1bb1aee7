// Goroutines that a wait group starts itself.
//
// verdict: terminates
package main

import (
	"sync"
)

func main() {
	var wg sync.WaitGroup
	c := make(chan int, 3)
	for i := range 3 {
		wg.Go(func() { c <- i })
	}
	wg.Wait()
	close(c)
	for v := range c {
		println(v)
	}
}
