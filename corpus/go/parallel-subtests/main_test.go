// A parallel subtest goes on when the function of its parent has returned, deferred calls included.
//
// verdict: TestClosedBeforeUse panic
// verdict: TestClosedByCleanup terminates
// verdict: TestMeet terminates
package parallel

import "testing"

func TestClosedBeforeUse(t *testing.T) {
	results := make(chan int, 2)
	defer close(results)
	t.Run("send", func(t *testing.T) {
		t.Parallel()
		results <- 1
	})
}

func TestClosedByCleanup(t *testing.T) {
	results := make(chan int, 2)
	t.Cleanup(func() { close(results) })
	t.Run("send", func(t *testing.T) {
		t.Parallel()
		results <- 1
	})
}

func TestMeet(t *testing.T) {
	c := make(chan int)
	t.Run("send", func(t *testing.T) {
		t.Parallel()
		c <- 1
	})
	t.Run("receive", func(t *testing.T) {
		t.Parallel()
		<-c
	})
}
