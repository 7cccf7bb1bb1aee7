// A channel that is sent over a channel is used by who receives it.
//
// verdict: terminates
package main

func main() {
	replies := make(chan chan int)
	go func() {
		reply := <-replies
		reply <- 1
		close(reply)
	}()
	mine := make(chan int)
	replies <- mine
	<-mine
	<-mine
}
