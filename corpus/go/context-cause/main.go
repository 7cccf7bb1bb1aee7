// The context ends with the cause that the first call of cancel gives; the second changes nothing,
// so the message for the second cause is never sent.
//
// verdict: deadlock
package main

import (
	"context"
	"errors"
)

var (
	errFirst  = errors.New("first")
	errSecond = errors.New("second")
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errFirst)
	cancel(errSecond)
	second := make(chan bool, 1)
	<-ctx.Done()
	if context.Cause(ctx) == errSecond {
		second <- true
	}
	<-second
}
