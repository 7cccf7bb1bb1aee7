// After signal.Stop no signal arrives at the channel.
//
// verdict: TestStopped deadlock
// verdict: TestStoppedAtEnd terminates
// verdict: TestGoroutineStopped leak
package signals

import (
	"os"
	"os/signal"
	"testing"
)

func TestStopped(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	<-c
}

func TestStoppedAtEnd(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	defer signal.Stop(c)
	<-c
}

func TestGoroutineStopped(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	go func() { <-c }()
	signal.Stop(c)
}
