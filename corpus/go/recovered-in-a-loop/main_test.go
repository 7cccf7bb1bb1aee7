// A loop of unknown length in a function that only computes may panic, and the caller recovers. The
// test deadlocks, which depends on data that is not known.
//
// verdict: TestIndex unknown
// model: TestIndex deadlock
package recovered

import (
	"os"
	"testing"
)

func sum(numbers []int, n int) int {
	total := 0
	for i := 0; i < n; i++ {
		total += numbers[i]
	}
	return total
}

func fails(f func()) (failed bool) {
	defer func() {
		if recover() != nil {
			failed = true
		}
	}()
	f()
	return
}

func TestIndex(t *testing.T) {
	n := len(os.Args) + 100
	if fails(func() { sum([]int{1, 2}, n) }) {
		<-make(chan int)
	}
}
