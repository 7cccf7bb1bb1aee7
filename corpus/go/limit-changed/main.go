// The limit of an errgroup is set while one of its goroutines runs: that goroutine gives back a place
// that it never had.
//
// verdict: unknown
// model: terminates
// assumes: the limit of the group is not known
package main

import "golang.org/x/sync/errgroup"

func main() {
	var group errgroup.Group
	release := make(chan struct{})
	group.Go(func() error {
		<-release
		return nil
	})
	group.SetLimit(1)
	close(release)
	_ = group.Wait()
}
