// The workers get the wait group by value: each counts down a copy, and main waits forever.
//
// verdict: deadlock
package main

import "sync"

func work(jobs <-chan int, wg sync.WaitGroup) {
	defer wg.Done()
	<-jobs
}

func main() {
	jobs := make(chan int, 2)
	var wg sync.WaitGroup
	for job := range 2 {
		wg.Add(1)
		jobs <- job
		go work(jobs, wg)
	}
	wg.Wait()
}
