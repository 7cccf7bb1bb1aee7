// The time of a context without time is over at once.
//
// verdict: terminates
package main

import "context"

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if ctx.Err() != context.DeadlineExceeded {
		<-make(chan int)
	}
}
