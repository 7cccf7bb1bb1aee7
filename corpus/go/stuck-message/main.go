// The sender comes after the receiver has left.
//
// verdict: leak
// live: false
package main

func main() {
	messages := make(chan int)
	quit := make(chan struct{}, 1)
	go func() {
		messages <- 1
	}()
	quit <- struct{}{}
	select {
	case <-messages:
	case <-quit:
	}
}
