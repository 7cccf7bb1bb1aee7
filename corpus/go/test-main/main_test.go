// TestMain sets a package variable before it runs the tests.
//
// verdict: TestQueue terminates
package queue

import (
	"os"
	"testing"
)

var queue chan int

func TestMain(m *testing.M) {
	queue = make(chan int, 1)
	os.Exit(m.Run())
}

func TestQueue(t *testing.T) {
	queue <- 1
	<-queue
}
