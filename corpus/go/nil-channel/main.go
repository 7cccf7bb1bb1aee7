// A channel that was never made.
//
// verdict: deadlock
package main

type client struct {
	replies chan int
}

func main() {
	c := &client{}
	<-c.replies
}
