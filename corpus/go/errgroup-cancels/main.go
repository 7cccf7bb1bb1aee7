// The consumer fails, the group's context ends, the producer gives up.
//
// verdict: terminates
package main

import (
	"context"
	"errors"
	"golang.org/x/sync/errgroup"
)

func main() {
	g, ctx := errgroup.WithContext(context.Background())
	c := make(chan int)
	g.Go(func() error {
		defer close(c)
		for i := 0; i < 3; i++ {
			select {
			case c <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	g.Go(func() error {
		for n := range c {
			if n == 1 {
				return errors.New("one")
			}
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		println(err.Error())
	}
}
