// The field is overwritten with a new channel; the goroutine keeps waiting on the old one.
//
// verdict: leak
package main

type box struct {
	c chan int
}

func main() {
	b := &box{c: make(chan int)}
	go func(c chan int) { <-c }(b.c)
	b.c = make(chan int, 1)
	b.c <- 1
}
