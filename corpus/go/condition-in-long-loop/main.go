// A condition inside a loop of twenty rounds is followed in each round.
//
// verdict: terminates
package main

func main() {
	multiples := make(chan int)
	count := 0
	for i := range 20 {
		if i%3 == 0 {
			go func() { multiples <- i }()
			count++
		}
	}
	for range count {
		<-multiples
	}
}
