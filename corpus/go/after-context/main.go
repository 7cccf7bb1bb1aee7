// What is to run after a context runs when it is cancelled.
//
// verdict: terminates
package main

import (
	"context"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	c := make(chan struct{})
	context.AfterFunc(ctx, func() { close(c) })
	cancel()
	<-c
}
