// Somebody outside may send a signal at any moment.
//
// verdict: terminates
package main

import (
	"os"
	"os/signal"
)

func main() {
	sigs := make(chan os.Signal, 1)
	signal.Notify(sigs, os.Interrupt)
	done := make(chan bool)
	go func() { <-sigs; done <- true }()
	<-done
}
