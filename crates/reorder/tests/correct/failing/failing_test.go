// Package failing holds tests of correct code that fail if a timeout is too early. What they do after
// that, to block, to leak or to panic, is a consequence of the failure and no bug.
package failing

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// The smallest case: the helper leaks because the test has given up.
func TestWatchdog(t *testing.T) {
	result := make(chan int)
	go func() { result <- 1 }()
	select {
	case <-result:
	case <-time.After(10 * time.Second):
		t.Fatal("too slow")
	}
}

// The sender comes while the end of the context is waited for.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	result := make(chan int)
	go func() {
		time.Sleep(time.Millisecond)
		result <- 1
	}()
	select {
	case <-ctx.Done():
		t.Fatal(ctx.Err())
	case <-result:
	}
}

// The timeout passes by itself if the sender is late, and the sender may come just after that.
func TestShortTimeout(t *testing.T) {
	result := make(chan int)
	go func() {
		time.Sleep(time.Millisecond)
		result <- 1
	}()
	select {
	case <-time.After(3 * time.Millisecond):
		time.Sleep(time.Millisecond)
		t.Fatal("too slow")
	case <-result:
	}
}

// semaphore is that of go-resiliency.
type semaphore chan struct{}

func (s semaphore) acquire() error {
	select {
	case s <- struct{}{}:
		return nil
	case <-time.After(time.Second):
		return errors.New("could not acquire semaphore")
	}
}

func (s semaphore) release() { <-s }

// A release without an acquire blocks.
func TestSemaphore(t *testing.T) {
	s := make(semaphore, 1)
	if err := s.acquire(); err != nil {
		t.Error(err)
	}
	s.release()
}

// pool waits in close for everything that was acquired, as puddle does.
type pool struct {
	free chan int
	used sync.WaitGroup
}

func (p *pool) acquire(ctx context.Context) (int, error) {
	select {
	case value := <-p.free:
		return value, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (p *pool) release(value int) {
	p.free <- value
	p.used.Done()
}

func TestPool(t *testing.T) {
	p := &pool{free: make(chan int, 1)}
	p.free <- 1
	p.used.Add(1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if value, err := p.acquire(ctx); err != nil {
		t.Errorf("no value: %v", err)
	} else {
		p.release(value)
	}
	p.used.Wait()
}

// Workers wait for the next task when the test gives up, as in workerpool.
func TestWorkers(t *testing.T) {
	tasks, done := make(chan int), make(chan int)
	for range 2 {
		go func() {
			for task := range tasks {
				done <- task
			}
		}()
	}
	for task := range 4 {
		go func() { tasks <- task }()
		select {
		case <-done:
		case <-time.After(3 * time.Second):
			t.Fatal("timed out")
		}
	}
	close(tasks)
}

// The assertion does not end the test, and the next line relies on it, as in pond.
func TestResults(t *testing.T) {
	values := make(chan int)
	go func() {
		defer close(values)
		values <- 1
	}()
	var results []int
	select {
	case value := <-values:
		results = append(results, value)
	case <-time.After(time.Second):
	}
	if len(results) != 1 {
		t.Errorf("%d results", len(results))
	}
	if results[0] != 1 {
		t.Error(results)
	}
}

// must panics on behalf of the test, which recovers and fails.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func TestHelperPanics(t *testing.T) {
	s := make(semaphore, 1)
	func() {
		defer func() {
			if err := recover(); err != nil {
				t.Error(err)
			}
		}()
		must(s.acquire())
	}()
	s.release()
}

// The subtest fails, the test itself blocks.
func TestSubtests(t *testing.T) {
	s := make(semaphore, 1)
	t.Run("acquire", func(t *testing.T) {
		if err := s.acquire(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("other", func(t *testing.T) {})
	s.release()
}

// answer has nothing to return if it is too late.
func answer(ctx context.Context, answers <-chan *int) *int {
	select {
	case <-ctx.Done():
		return nil
	case one := <-answers:
		return one
	}
}

// It does not look whether there was an answer in time.
func TestNothingAfterTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	answers := make(chan *int)
	go func() { answers <- new(int) }()
	if *answer(ctx, answers) != 0 {
		t.Error("wrong answer")
	}
}
