// A service whose workers wait for their next message: that is no fault, whether or not one can come.
//
// verdict: diverges
// model: deadlock
package main

import "fmt"

func worker(jobs <-chan int, stop <-chan struct{}) {
	for {
		select {
		case job := <-jobs:
			fmt.Println(job)
		case <-stop:
			return
		}
	}
}

func total(jobs <-chan int) {
	sum := 0
	for job := range jobs {
		sum += job
		fmt.Println(sum)
	}
}

func main() {
	jobs, stop := make(chan int), make(chan struct{})
	for range 2 {
		go worker(jobs, stop)
	}
	go total(jobs)
	jobs <- 1
	select {}
}
