// Only one of two wins the swap and closes the channel.
//
// verdict: terminates
package main

import "sync/atomic"

type once struct {
	done  atomic.Bool
	count int32
	c     chan struct{}
}

func (o *once) close() {
	if o.done.CompareAndSwap(false, true) {
		close(o.c)
	}
	atomic.AddInt32(&o.count, 1)
}

func main() {
	o := &once{c: make(chan struct{})}
	go o.close()
	o.close()
	<-o.c
}
