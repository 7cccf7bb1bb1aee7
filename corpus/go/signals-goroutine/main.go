// Signals arrive at a channel that another goroutine waits for already. In the model a goroutine that
// sends them is left.
//
// verdict: terminates
// model: leak
package main

import (
	"os"
	"os/signal"
)

func main() {
	c := make(chan os.Signal, 1)
	done := make(chan bool)
	go func() {
		<-c
		close(done)
	}()
	signal.Notify(c, os.Interrupt)
	<-done
}
