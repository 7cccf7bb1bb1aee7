// Two messages are sent, one is received: the other stays in the buffer.
//
// verdict: terminates
// eventual-reception: false
package main

func main() {
	messages := make(chan int, 2)
	messages <- 1
	messages <- 2
	<-messages
}
