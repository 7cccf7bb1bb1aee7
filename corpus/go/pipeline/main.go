// A pipeline of stages that a loop connects.
//
// verdict: terminates
package main

func stage(in <-chan int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for n := range in {
			out <- n + 1
		}
	}()
	return out
}

func main() {
	source := make(chan int)
	go func() {
		source <- 1
		source <- 2
		close(source)
	}()
	var out <-chan int = source
	for range 3 {
		out = stage(out)
	}
	for n := range out {
		println(n)
	}
}
