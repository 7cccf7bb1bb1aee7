// A worker below a derived context ends when the root is cancelled.
//
// verdict: terminates
package main

import (
	"context"
	"sync"
)

func work(ctx context.Context, jobs <-chan int) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-jobs:
		}
	}
}

func main() {
	root, cancel := context.WithCancel(context.Background())
	child, stop := context.WithCancel(root)
	defer stop()
	jobs := make(chan int)
	var wg sync.WaitGroup
	wg.Go(func() { work(child, jobs) })
	jobs <- 1
	cancel()
	wg.Wait()
}
