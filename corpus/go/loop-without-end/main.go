// Live as a type: the loop's exit leads to the send. But the counter runs away from its bound, so
// that the send is never reached.
//
// verdict: terminates
// model: leak
// live: null
package main

func count(out chan<- int) {
	for i := 0; i < 10; i-- {
	}
	out <- 1
}

func main() {
	out := make(chan int)
	go count(out)
	<-out
}
