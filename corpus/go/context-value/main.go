// A channel that travels in a context.
//
// verdict: terminates
package main

import (
	"context"
)

type key struct{}

func handler(ctx context.Context) {
	ch := ctx.Value(key{}).(chan int)
	ch <- 1
}

func main() {
	ch := make(chan int)
	ctx := context.WithValue(context.Background(), key{}, ch)
	go handler(ctx)
	<-ch
}
