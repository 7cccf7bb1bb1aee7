// Workers take jobs until the channel is closed, and hand in results that the main goroutine
// counts.
//
// verdict: terminates
// live: true
package main

import (
	"fmt"
	"sync"
)

type job struct {
	id     int
	answer chan int
}

func worker(jobs <-chan job, wg *sync.WaitGroup) {
	defer wg.Done()
	for j := range jobs {
		j.answer <- j.id
	}
}

func main() {
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go worker(jobs, &wg)
	}
	for i := 0; i < 3; i++ {
		answer := make(chan int)
		jobs <- job{i, answer}
		fmt.Println(<-answer)
	}
	close(jobs)
	wg.Wait()
}
