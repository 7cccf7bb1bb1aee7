// Two producers, one channel that merges them. The consumer and the producers go on forever.
//
// verdict: diverges
// live: true
package main

import "fmt"

func work(out chan<- string, name string) {
	for {
		out <- name
	}
}

func fanIn(a, b <-chan string) <-chan string {
	merged := make(chan string)
	go func() {
		for {
			select {
			case s := <-a:
				merged <- s
			case s := <-b:
				merged <- s
			}
		}
	}()
	return merged
}

func main() {
	a, b := make(chan string), make(chan string)
	go work(a, "a")
	go work(b, "b")
	merged := fanIn(a, b)
	for {
		fmt.Println(<-merged)
	}
}
