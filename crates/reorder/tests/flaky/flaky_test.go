// Package flaky holds tests that pass as a rule and fail now and then.
package flaky

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// It fails if the worker is late.
func TestForgottenWait(t *testing.T) {
	var done atomic.Bool
	results := make(chan int, 1)
	go func() {
		results <- 1
		done.Store(true)
	}()
	time.Sleep(time.Millisecond)
	if !done.Load() {
		t.Error("the worker is not done")
	}
}

// It fails if the second goroutine overtakes the first one.
func TestOrder(t *testing.T) {
	var lock sync.Mutex
	var group sync.WaitGroup
	var order []int
	group.Add(2)
	for i := range 2 {
		go func() {
			defer group.Done()
			time.Sleep(time.Duration(i) * 5 * time.Millisecond)
			lock.Lock()
			order = append(order, i)
			lock.Unlock()
		}()
	}
	group.Wait()
	if order[0] != 0 {
		t.Errorf("the order is %v", order)
	}
}

// It fails if the timeout comes first.
func TestTimeout(t *testing.T) {
	answer := make(chan int)
	go func() {
		answer <- 1
	}()
	select {
	case <-answer:
	case <-time.After(time.Second):
		t.Fatal("no answer")
	}
}

// It blocks if both goroutines have their first lock.
func TestLocks(t *testing.T) {
	var a, b sync.Mutex
	var group sync.WaitGroup
	group.Add(2)
	go func() {
		defer group.Done()
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
	}()
	go func() {
		defer group.Done()
		b.Lock()
		a.Lock()
		a.Unlock()
		b.Unlock()
	}()
	group.Wait()
}

// It never fails.
func TestSteady(t *testing.T) {
	answer := make(chan int)
	go func() { answer <- 1 }()
	if <-answer != 1 {
		t.Error("another answer")
	}
}
