// The kernels around contexts and timers, repaired.
package fixed

import (
	"context"
	"sync"
	"testing"
	"time"
)

// The caller leaves when the context is done; the callee still wants to answer.
func TestAnswerAfterCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	answer := make(chan int, 1)
	go func() { answer <- 1 }()
	go cancel()
	select {
	case <-ctx.Done():
	case <-answer:
	}
}

// A context that is never cancelled.
func TestNeverCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { <-ctx.Done() }()
	time.Sleep(time.Millisecond)
}

// The worker listens to its own context instead of the request's.
func TestWrongContext(t *testing.T) {
	request, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
	defer cancel()
	jobs := make(chan int)
	go func() {
		own, stop := context.WithCancel(request)
		defer stop()
		select {
		case <-own.Done():
		case <-jobs:
		}
	}()
	select {
	case jobs <- 1:
	case <-request.Done():
	}
}

// Both the timer and the event want to close.
func TestTimerAndEventClose(t *testing.T) {
	done := make(chan struct{})
	var mu sync.Mutex
	finished := false
	finish := func() {
		mu.Lock()
		defer mu.Unlock()
		if finished {
			return
		}
		finished = true
		close(done)
	}
	time.AfterFunc(time.Millisecond, finish)
	time.AfterFunc(time.Millisecond, finish)
	<-done
	time.Sleep(5 * time.Millisecond)
}

// A watcher that is told to stop while it reports.
func TestWatcherReports(t *testing.T) {
	type watcher struct {
		result, stop chan struct{}
	}
	w := watcher{make(chan struct{}), make(chan struct{})}
	go func() {
		for {
			select {
			case <-w.stop:
				return
			case w.result <- struct{}{}:
			}
		}
	}()
	<-w.result
	close(w.stop)
}

// The result of the group is sent by the last goroutine, and no receiver may be left.
func TestGroupResult(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Millisecond)
	defer cancel()
	all := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			time.Sleep(time.Millisecond)
		}()
	}
	go func() {
		wg.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-ctx.Done():
	}
}

// Cleanup waits for a loop that waits for the next tick of a stopped ticker.
func TestStoppedTicker(t *testing.T) {
	ticker := time.NewTicker(time.Millisecond)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 {
			<-ticker.C
		}
	}()
	<-done
	ticker.Stop()
}
