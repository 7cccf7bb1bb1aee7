// A function that was to run later is stopped before: nobody closes the channel.
//
// verdict: deadlock
package main

import (
	"time"
)

func main() {
	done := make(chan struct{})
	t := time.AfterFunc(time.Second, func() { close(done) })
	t.Stop()
	<-done
}
