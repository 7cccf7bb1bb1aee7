// `Wait` returns the first error, which is also the cause of the end of the group's context.
//
// verdict: terminates
package main

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
)

var errFull, errClosed = errors.New("full"), errors.New("closed")

func main() {
	group, ctx := errgroup.WithContext(context.Background())
	group.Go(func() error { return nil })
	group.Go(func() error { return errFull })
	group.Go(func() error { return errClosed })
	err := group.Wait()
	if err != errFull && err != errClosed || context.Cause(ctx) != err {
		<-make(chan int)
	}
	other, ctx := errgroup.WithContext(context.Background())
	other.Go(func() error { return nil })
	if other.Wait() != nil || context.Cause(ctx) != context.Canceled {
		<-make(chan int)
	}
}
