// Package orders takes locks in opposite orders.
package orders

import (
	"sync"
	"testing"
	"time"
)

// The second goroutine comes so much later that only a prediction makes them meet.
func TestLate(t *testing.T) {
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
		time.Sleep(10 * time.Millisecond)
		b.Lock()
		a.Lock()
		a.Unlock()
		b.Unlock()
	}()
	group.Wait()
}

// Three goroutines, each of them much later than the one before.
func TestThree(t *testing.T) {
	var locks [3]sync.Mutex
	var group sync.WaitGroup
	for i := range locks {
		group.Add(1)
		go func() {
			defer group.Done()
			time.Sleep(time.Duration(i) * 200 * time.Millisecond)
			first, second := &locks[i], &locks[(i+1)%len(locks)]
			first.Lock()
			second.Lock()
			second.Unlock()
			first.Unlock()
		}()
	}
	group.Wait()
}

// A channel keeps them apart.
func TestOneAfterTheOther(t *testing.T) {
	var a, b sync.Mutex
	done := make(chan bool)
	go func() {
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		done <- true
	}()
	<-done
	go func() {
		b.Lock()
		a.Lock()
		a.Unlock()
		b.Unlock()
		done <- true
	}()
	<-done
}

// Package sync has a lock for all pools, which it releases while the goroutine cannot be moved to
// another thread. It is not held any more when the test takes its own.
func TestPool(t *testing.T) {
	var a, b sync.Mutex
	var group sync.WaitGroup
	group.Add(2)
	for range 2 {
		pool := sync.Pool{New: func() any { return new(int) }}
		go func() {
			defer group.Done()
			pool.Put(pool.Get())
			a.Lock()
			pool.Put(pool.Get())
			b.Lock()
			b.Unlock()
			a.Unlock()
		}()
	}
	group.Wait()
}

// A third lock keeps them apart.
func TestGuarded(t *testing.T) {
	var guard, a, b sync.Mutex
	var group sync.WaitGroup
	group.Add(2)
	go func() {
		defer group.Done()
		guard.Lock()
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
		guard.Unlock()
	}()
	go func() {
		defer group.Done()
		guard.Lock()
		b.Lock()
		a.Lock()
		a.Unlock()
		b.Unlock()
		guard.Unlock()
	}()
	group.Wait()
}
