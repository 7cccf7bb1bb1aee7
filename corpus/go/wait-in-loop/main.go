// Wait stands inside the loop that starts what is waited for.
//
// verdict: deadlock
package main

import "sync"

func main() {
	var wg sync.WaitGroup
	results := make(chan int)
	wg.Add(2)
	for i := 0; i < 2; i++ {
		go func(n int) {
			defer wg.Done()
			println(n)
		}(i)
		wg.Wait()
	}
	close(results)
}
