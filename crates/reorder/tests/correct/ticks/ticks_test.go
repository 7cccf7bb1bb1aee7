// Package ticks holds a test that waits for a goroutine which only its own ticker wakes, for so long that
// the runtime is asked about leaks meanwhile.
package ticks

import (
	"testing"
	"time"
)

func TestCountsTicks(t *testing.T) {
	done := make(chan bool)
	go func() {
		never := make(chan bool)
		ticker := time.NewTicker(time.Microsecond)
		defer ticker.Stop()
		for range 40_000 {
			select {
			case <-ticker.C:
			case <-never:
			}
		}
		close(done)
	}()
	<-done
}
