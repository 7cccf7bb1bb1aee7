// A function with a loop of unknown length deletes entries of a map of channels: which ones are left is
// not known.
//
// verdict: TestDelete unknown
// model: TestDelete deadlock
// assumes: this entry of a map is not known
// assumes: the channel is not known
package deleted

import (
	"os"
	"testing"
)

func drop(channels map[int]chan int, n int) {
	for i := 0; i < n; i++ {
		delete(channels, i)
	}
}

func TestDelete(t *testing.T) {
	channels := map[int]chan int{0: make(chan int, 1)}
	drop(channels, len(os.Args))
	channels[0] <- 1
}
