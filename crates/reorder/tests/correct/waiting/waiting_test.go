// Package waiting holds tests with goroutines that wait on purpose, and slow ones.
package waiting

import (
	"testing"
	"time"
)

// A goroutine with `select {}` says that it waits forever.
func TestSelectWithoutCases(t *testing.T) {
	go func() { select {} }()
	time.Sleep(time.Millisecond)
}

// The parallel subtests wait inside t.Parallel until the test itself is done.
func TestParallel(t *testing.T) {
	for _, name := range []string{"a", "b", "c"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			time.Sleep(time.Millisecond)
		})
	}
	time.Sleep(10 * time.Millisecond)
}
