// A timer that other goroutines have is stopped: it delivers nothing.
//
// verdict: TestStopped deadlock
// verdict: TestRuns terminates
// verdict: TestStoppedByGoroutine deadlock
package timer

import (
	"testing"
	"time"
)

func TestStopped(t *testing.T) {
	c := make(chan *time.Timer, 1)
	timer := time.NewTimer(time.Hour)
	c <- timer
	timer.Stop()
	<-(<-c).C
}

func TestRuns(t *testing.T) {
	c := make(chan *time.Timer, 1)
	c <- time.NewTimer(time.Millisecond)
	<-(<-c).C
}

func TestStoppedByGoroutine(t *testing.T) {
	timer := time.NewTimer(time.Hour)
	done := make(chan bool)
	go func() {
		timer.Stop()
		close(done)
	}()
	<-done
	<-timer.C
}
