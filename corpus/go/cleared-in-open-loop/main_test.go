// Functions with loops of unknown length clear and copy slices of channels: what they leave is not
// known.
//
// verdict: TestClear deadlock
// verdict: TestCopy deadlock
package cleared

import (
	"os"
	"testing"
)

func wipe(channels []chan int, n int) {
	for i := 0; i < n; i++ {
		clear(channels)
	}
}

func overwrite(channels, others []chan int, n int) {
	for i := 0; i < n; i++ {
		copy(channels, others)
	}
}

func TestClear(t *testing.T) {
	channels := []chan int{make(chan int, 1)}
	wipe(channels, len(os.Args))
	channels[0] <- 1
}

func TestCopy(t *testing.T) {
	channels := []chan int{make(chan int, 1)}
	overwrite(channels, []chan int{make(chan int)}, len(os.Args))
	channels[0] <- 1
}
