// The channel of a context's Done is sent over a channel: it still ends by time, or only if it is
// cancelled.
//
// verdict: TestTimeout terminates
// verdict: TestNeverCancelled deadlock
// verdict: TestBoth terminates
// verdict: TestSecondNeverEnds deadlock
// verdict: TestGoroutine terminates
package done

import (
	"context"
	"testing"
	"time"
)

func TestTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	c := make(chan (<-chan struct{}), 1)
	c <- ctx.Done()
	<-<-c
}

func TestNeverCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := make(chan (<-chan struct{}), 1)
	c <- ctx.Done()
	<-<-c
}

func TestBoth(t *testing.T) {
	c := make(chan (<-chan struct{}), 2)
	timed, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	other, cancel := context.WithCancel(context.Background())
	c <- timed.Done()
	c <- other.Done()
	<-<-c
	cancel()
	<-<-c
}

func TestSecondNeverEnds(t *testing.T) {
	c := make(chan (<-chan struct{}), 2)
	timed, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	other, cancel := context.WithCancel(context.Background())
	defer cancel()
	c <- timed.Done()
	c <- other.Done()
	<-<-c
	<-<-c
}

func TestGoroutine(t *testing.T) {
	c := make(chan (<-chan struct{}))
	go func() { <-<-c }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	c <- ctx.Done()
}
