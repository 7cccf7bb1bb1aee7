// Goroutines that start goroutines, as deep as a slice can be halved.
//
// verdict: terminates
package main

func sum(xs []int, out chan<- int) {
	if len(xs) == 1 {
		out <- xs[0]
		return
	}
	c := make(chan int)
	go sum(xs[:len(xs)/2], c)
	go sum(xs[len(xs)/2:], c)
	out <- <-c + <-c
}

func main() { c := make(chan int); go sum([]int{1, 2, 3, 4}, c); println(<-c) }
