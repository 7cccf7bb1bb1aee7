// A service in which one goroutine waits for an answer that is never sent: it is not idle, because it
// waits for a single message.
//
// verdict: leak
// model: deadlock
package main

import "fmt"

func ask(questions chan<- chan int) {
	answer := make(chan int)
	questions <- answer
	fmt.Println(<-answer)
}

// serve answers the first question only.
func serve(questions <-chan chan int) {
	answered := false
	for answer := range questions {
		if !answered {
			answered = true
			answer <- 1
		}
	}
}

func main() {
	questions := make(chan chan int)
	go serve(questions)
	go ask(questions)
	go ask(questions)
	select {}
}
