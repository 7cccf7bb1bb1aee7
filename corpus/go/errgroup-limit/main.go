// A group of one: its second function, which the first waits for, never gets a place.
//
// verdict: deadlock
package main

import (
	"golang.org/x/sync/errgroup"
)

// The second Go waits for a place that only the first, waiting for the second, gives back.
func main() {
	var g errgroup.Group
	g.SetLimit(1)
	c := make(chan int)
	g.Go(func() error { c <- 1; return nil })
	g.Go(func() error { <-c; return nil })
	g.Wait()
}
