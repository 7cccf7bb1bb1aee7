// One worker's channel of several is not closed.
//
// verdict: deadlock
package main

import (
	"sync"
)

func main() {
	const n = 3
	jobs := make([]chan int, n)
	var wg sync.WaitGroup
	for i := range jobs {
		jobs[i] = make(chan int)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range jobs[i] {
				println(j)
			}
		}()
	}
	for i := 0; i < 6; i++ {
		jobs[i%n] <- i
	}
	for i := 1; i < n; i++ {
		close(jobs[i-1])
	}
	wg.Wait()
}
