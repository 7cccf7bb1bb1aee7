// Kernels in which locks, groups, conditions and channels meet.
package bug

import (
	"sync"
	"testing"
	"time"
)

// Sends while it holds the lock that the receiver needs first.
func TestSendUnderLock(t *testing.T) {
	var mu sync.Mutex
	events := make(chan int)
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		mu.Lock()
		events <- 1
		mu.Unlock()
	}()
	go func() {
		defer wg.Done()
		mu.Lock()
		mu.Unlock()
		<-events
	}()
	wg.Wait()
}

// Waits for workers that need the lock of the one who waits.
func TestWaitUnderLock(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	mu.Lock()
	defer mu.Unlock()
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			mu.Unlock()
		}()
	}
	wg.Wait()
}

// Done is missing on one path.
func TestMissingDone(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Add(1)
		go func() {
			if i == 2 {
				return
			}
			wg.Done()
		}()
	}
	wg.Wait()
}

// Add for all, but one is skipped; a goroutine waits for the group.
func TestSkippedWorker(t *testing.T) {
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Add(3)
	for i := range 3 {
		if i == 1 {
			continue
		}
		go wg.Done()
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Millisecond):
	}
}

// Add in the goroutine: Wait may come first, and results are missed.
func TestAddInGoroutine(t *testing.T) {
	var wg sync.WaitGroup
	results := make(chan int, 3)
	for i := range 3 {
		go func() {
			wg.Add(1)
			defer wg.Done()
			results <- i
		}()
	}
	wg.Wait()
	close(results)
	for range results {
	}
}

// Done once too often.
func TestNegativeCounter(t *testing.T) {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Add(1)
	go func() {
		select {
		case <-stop:
			wg.Done()
		case <-time.After(time.Millisecond):
			wg.Done()
		}
		select {
		case <-stop:
			wg.Done()
		default:
		}
	}()
	close(stop)
	wg.Wait()
	time.Sleep(time.Millisecond)
}

// The signal comes before the wait.
func TestLostSignal(t *testing.T) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	go cond.Signal()
	time.Sleep(time.Millisecond)
	go func() {
		mu.Lock()
		cond.Wait()
		mu.Unlock()
	}()
	time.Sleep(time.Millisecond)
}

// One signal for two waiters.
func TestSignalForTwo(t *testing.T) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	ready := false
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mu.Lock()
			for !ready {
				cond.Wait()
			}
			mu.Unlock()
		}()
	}
	mu.Lock()
	ready = true
	mu.Unlock()
	cond.Signal()
	wg.Wait()
}

// The state changes without the lock, between the look and the wait.
func TestSignalWithoutLock(t *testing.T) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	ready := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		mu.Lock()
		defer mu.Unlock()
		select {
		case <-ready:
			return
		default:
		}
		cond.Wait()
	}()
	go func() {
		defer wg.Done()
		close(ready)
		cond.Broadcast()
	}()
	wg.Wait()
}

// Once inside itself.
func TestOnceInsideOnce(t *testing.T) {
	var once sync.Once
	done := make(chan struct{})
	go func() {
		once.Do(func() { once.Do(func() {}) })
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Millisecond):
	}
}

// Stop waits for the loop, the loop waits for the lock of stop.
type server struct {
	mu   sync.Mutex
	quit chan struct{}
	done chan struct{}
	hits int
}

func (s *server) loop() {
	defer close(s.done)
	for {
		s.mu.Lock()
		s.hits++
		s.mu.Unlock()
		select {
		case <-s.quit:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.quit)
	<-s.done
}

func TestStopUnderLock(t *testing.T) {
	s := &server{quit: make(chan struct{}), done: make(chan struct{})}
	go s.loop()
	time.Sleep(3 * time.Millisecond)
	s.stop()
}

// A ticker keeps a goroutine alive that nothing can stop any more.
func TestTickerForEver(t *testing.T) {
	stop := make(chan struct{})
	go func() {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
		}
	}()
	time.Sleep(5 * time.Millisecond)
}

// A map that is written by two, one of them without the lock.
func TestLazyInit(t *testing.T) {
	var cache map[string]int
	var mu sync.Mutex
	var wg sync.WaitGroup
	ready := make(chan struct{}, 1)
	wg.Add(2)
	go func() {
		defer wg.Done()
		mu.Lock()
		cache = map[string]int{}
		mu.Unlock()
		ready <- struct{}{}
	}()
	go func() {
		defer wg.Done()
		select {
		case <-ready:
		case <-time.After(time.Millisecond):
		}
		mu.Lock()
		cache["a"] = 1
		mu.Unlock()
	}()
	wg.Wait()
}

// A pointer that is set by a goroutine, used too early.
func TestUsedTooEarly(t *testing.T) {
	type connection struct{ id int }
	var mu sync.Mutex
	var current *connection
	started := make(chan struct{})
	go func() {
		close(started)
		mu.Lock()
		current = &connection{1}
		mu.Unlock()
	}()
	<-started
	mu.Lock()
	defer mu.Unlock()
	_ = current.id
}
