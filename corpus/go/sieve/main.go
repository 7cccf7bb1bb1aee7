// The sieve of Eratosthenes as a chain of filters. Each prime adds a goroutine, and nobody stops
// them: not finite control, so that no search sees all of it.
//
// verdict: unknown
// finite-control: false
package main

func generate(out chan<- int) {
	for i := 2; ; i++ {
		out <- i
	}
}

func filter(in <-chan int, out chan<- int, prime int) {
	for {
		if i := <-in; i%prime != 0 {
			out <- i
		}
	}
}

func main() {
	numbers := make(chan int)
	go generate(numbers)
	for {
		prime := <-numbers
		filtered := make(chan int)
		go filter(numbers, filtered, prime)
		numbers = filtered
	}
}
