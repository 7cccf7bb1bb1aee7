// A context ends once: time that passes after it was cancelled does not change its error, and neither
// does a cancel after the end of its parent.
//
// verdict: terminates
package main

import (
	"context"
	"io"
	"time"
)

func main() {
	cancelled, cancel := context.WithTimeout(context.Background(), time.Hour)
	cancel()
	parent, cancelParent := context.WithCancelCause(context.Background())
	child, cancelChild := context.WithTimeoutCause(parent, time.Hour, io.ErrNoProgress)
	cancelParent(io.EOF)
	cancelChild()
	<-child.Done()
	if cancelled.Err() != context.Canceled || context.Cause(child) != io.EOF {
		<-make(chan int)
	}
}
