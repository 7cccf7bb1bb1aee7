// Every unit is given back: in the end all of them can be had.
//
// verdict: terminates
package main

import (
	"context"
	"golang.org/x/sync/semaphore"
)

func main() {
	sem := semaphore.NewWeighted(2)
	ctx := context.Background()
	for i := 0; i < 3; i++ {
		if err := sem.Acquire(ctx, 1); err != nil {
			return
		}
		go func() { defer sem.Release(1); println(i) }()
	}
	sem.Acquire(ctx, 2)
}
