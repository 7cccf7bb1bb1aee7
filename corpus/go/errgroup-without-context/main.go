// The consumer fails, and nobody tells the producer: the group waits for it forever.
//
// verdict: deadlock
package main

import (
	"errors"
	"golang.org/x/sync/errgroup"
)

func main() {
	var g errgroup.Group
	c := make(chan int)
	g.Go(func() error {
		defer close(c)
		for i := 0; i < 3; i++ {
			c <- i
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
