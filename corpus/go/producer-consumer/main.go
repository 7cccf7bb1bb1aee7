// Two producers, and a consumer that was given one of their channels twice: the other producer
// waits forever. The consumer goes on, because a closed channel is always ready.
//
// verdict: leak
// live: false
package main

func produce(out chan<- int) {
	for i := 0; i < 5; i++ {
		out <- i
	}
	close(out)
}

func consume(a, b <-chan int) {
	for {
		select {
		case x := <-a:
			print(x)
		case x := <-b:
			print(x)
		}
	}
}

func main() {
	first, second := make(chan int), make(chan int)
	go produce(first)
	go produce(second)
	consume(first, first)
}
