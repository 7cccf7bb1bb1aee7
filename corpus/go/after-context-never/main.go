// Nobody cancels the context before main waits for what runs after it.
//
// verdict: deadlock
package main

import (
	"context"
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := make(chan struct{})
	context.AfterFunc(ctx, func() { close(c) })
	<-c
}
