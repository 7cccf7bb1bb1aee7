// Fibonacci numbers by a tree of goroutines, one for each call; the argument is known, so the tree
// is finite.
//
// verdict: terminates
package main

import "fmt"

func fib(n int, out chan<- int) {
	if n < 2 {
		out <- n
		return
	}
	parts := make(chan int)
	go fib(n-1, parts)
	go fib(n-2, parts)
	out <- <-parts + <-parts
}

func main() {
	result := make(chan int)
	go fib(4, result)
	fmt.Println(<-result)
}
