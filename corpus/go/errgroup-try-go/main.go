// `TryGo` starts no goroutine while as many run as the limit allows, so nothing closes the channel.
//
// verdict: deadlock
package main

import "golang.org/x/sync/errgroup"

func main() {
	var group errgroup.Group
	group.SetLimit(1)
	stop := make(chan int)
	group.TryGo(func() error {
		<-stop
		return nil
	})
	if group.TryGo(func() error { close(stop); return nil }) {
		<-make(chan int)
	}
	group.Wait()
}
