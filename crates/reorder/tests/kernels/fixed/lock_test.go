// The kernels around mutexes, repaired.
package fixed

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// Locked twice by the same goroutine, through a method that locks as well.
type store struct {
	mu    sync.Mutex
	items map[string]int
}

func (s *store) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.items)
}

func (s *store) put(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[key] = 1
	return len(s.items)
}

func TestDoubleLock(t *testing.T) {
	(&store{items: map[string]int{}}).put("a")
}

// AB and BA.
func TestLockOrder(t *testing.T) {
	var a, b sync.Mutex
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		a.Lock()
		defer a.Unlock()
		b.Lock()
		defer b.Unlock()
	}()
	go func() {
		defer wg.Done()
		a.Lock()
		defer a.Unlock()
		b.Lock()
		defer b.Unlock()
	}()
	wg.Wait()
}

// Three philosophers.
func TestPhilosophers(t *testing.T) {
	var forks [3]sync.Mutex
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			forks[min(i, (i+1)%3)].Lock()
			forks[max(i, (i+1)%3)].Lock()
			forks[(i+1)%3].Unlock()
			forks[i].Unlock()
		}()
	}
	wg.Wait()
}

// The error path keeps the lock.
func TestMissingUnlock(t *testing.T) {
	var mu sync.Mutex
	work := func(fail bool) error {
		mu.Lock()
		if fail {
			mu.Unlock()
			return errors.New("failed")
		}
		mu.Unlock()
		return nil
	}
	work(true)
	go work(false)
	time.Sleep(time.Millisecond)
}

// A reader reads again while a writer waits.
func TestReadLockAgain(t *testing.T) {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		mu.RLock()
		defer mu.RUnlock()
	}()
	go func() {
		defer wg.Done()
		mu.Lock()
		defer mu.Unlock()
	}()
	wg.Wait()
}

// A read lock is not upgraded by a write lock.
func TestUpgrade(t *testing.T) {
	var mu sync.RWMutex
	mu.RLock()
	mu.RUnlock()
	mu.Lock()
	mu.Unlock()
}

// A global mutex: the collector cannot tell.
var registry sync.Mutex

func TestGlobalMutex(t *testing.T) {
	registry.Lock()
	go func() {
		registry.Lock()
		registry.Unlock()
	}()
	registry.Unlock()
	time.Sleep(time.Millisecond)
}

// Global locks in two orders, and the test waits for both.
var accounts, ledger sync.Mutex

func TestGlobalLockOrder(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		accounts.Lock()
		ledger.Lock()
		ledger.Unlock()
		accounts.Unlock()
	}()
	go func() {
		defer wg.Done()
		accounts.Lock()
		ledger.Lock()
		ledger.Unlock()
		accounts.Unlock()
	}()
	wg.Wait()
}

// A callback is called with the lock held, and comes back.
func TestCallbackUnderLock(t *testing.T) {
	var mu sync.Mutex
	var callback func()
	notify := func() {
		mu.Lock()
		mu.Unlock()
		callback()
	}
	callback = func() {
		mu.Lock()
		defer mu.Unlock()
	}
	go notify()
	time.Sleep(time.Millisecond)
}

// Unlocked twice, under a condition that two can see.
func TestUnlockTwice(t *testing.T) {
	var mu sync.Mutex
	held := make(chan bool, 2)
	mu.Lock()
	held <- true
	held <- false
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if <-held {
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
}
