// Tests are entries. FailNow ends the test but not what it started.
//
// verdict: TestLeak leak
// verdict: TestSubtests terminates
// verdict: TestFatal leak
package tests

import "testing"

func TestLeak(t *testing.T) {
	c := make(chan int)
	go func() { c <- 1 }()
}

func TestSubtests(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			c := make(chan int)
			go func() { c <- 1 }()
			if <-c != 1 {
				t.Fatal("not one")
			}
		})
	}
}

func TestFatal(t *testing.T) {
	c := make(chan int)
	go func() { c <- 1 }()
	if testing.Short() {
		t.Fatal("too short")
	}
	<-c
}
