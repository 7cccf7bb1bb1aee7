// A unit is lost on the way out after an error: all of them can never be had again.
//
// verdict: deadlock
package main

import (
	"context"
	"errors"
	"golang.org/x/sync/semaphore"
)

func work(i int) error {
	if i == 1 {
		return errors.New("x")
	}
	return nil
}

func main() {
	sem := semaphore.NewWeighted(2)
	ctx := context.Background()
	for i := 0; i < 3; i++ {
		sem.Acquire(ctx, 1)
		go func() {
			if work(i) != nil {
				return
			}
			sem.Release(1)
		}()
	}
	sem.Acquire(ctx, 2)
}
