// Kernels around channels: each test has a bug that some orders show.
package bug

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// A result that no goroutine waits for any more, after a timeout.
func TestResultAfterTimeout(t *testing.T) {
	result := make(chan int)
	go func() {
		time.Sleep(time.Millisecond)
		result <- 1
	}()
	select {
	case <-result:
	case <-time.After(20 * time.Millisecond):
	}
}

// Two results, of which the first one wins.
func TestFirstAnswerWins(t *testing.T) {
	answers := make(chan int)
	for i := range 3 {
		go func() { answers <- i }()
	}
	<-answers
}

// An early return on an error leaves the producer alone.
func TestEarlyReturn(t *testing.T) {
	values, failures := make(chan int), make(chan error)
	go func() { failures <- errors.New("no") }()
	go func() { values <- 1 }()
	select {
	case <-failures:
		return
	case <-values:
	}
	<-failures
}

// No goroutine closes the channel that a worker ranges over.
func TestRangeWithoutClose(t *testing.T) {
	jobs := make(chan int)
	done := make(chan bool, 3)
	go func() {
		for range jobs {
			done <- true
		}
	}()
	for i := range 3 {
		jobs <- i
	}
	for range 3 {
		<-done
	}
}

// A broadcaster whose Shutdown is not called (figure 6 of the paper).
type broadcaster struct{ incoming chan int }

func newBroadcaster() *broadcaster {
	b := &broadcaster{make(chan int, 4)}
	go b.loop()
	return b
}

func (b *broadcaster) loop() {
	for range b.incoming {
	}
}

func (b *broadcaster) Shutdown() { close(b.incoming) }

func TestForgottenShutdown(t *testing.T) {
	b := newBroadcaster()
	b.incoming <- 1
}

// A worker in a select whose stop channel is never closed (figure 5 of the paper).
func TestForgottenStop(t *testing.T) {
	stop, updates := make(chan struct{}), make(chan int, 1)
	go func() {
		for {
			select {
			case _, ok := <-updates:
				if !ok {
					return
				}
			case <-stop:
				return
			}
		}
	}()
	updates <- 1
}

// A nil channel blocks forever.
func TestNilChannel(t *testing.T) {
	var events chan int
	go func() { <-events }()
	time.Sleep(time.Millisecond)
}

// Both sides send first.
func TestBothSendFirst(t *testing.T) {
	a, b := make(chan int), make(chan int)
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		a <- 1
		<-b
	}()
	go func() {
		defer wg.Done()
		b <- 1
		<-a
	}()
	wg.Wait()
}

// One message too few.
func TestTooFewMessages(t *testing.T) {
	numbers := make(chan int)
	go func() {
		for i := range 2 {
			numbers <- i
		}
	}()
	for range 3 {
		<-numbers
	}
}

// The semaphore is not given back on the error path.
func TestSemaphoreNotReleased(t *testing.T) {
	semaphore := make(chan struct{}, 1)
	work := func(fail bool) error {
		semaphore <- struct{}{}
		if fail {
			return errors.New("failed")
		}
		<-semaphore
		return nil
	}
	work(true)
	go work(false)
	time.Sleep(time.Millisecond)
}

// A full buffer: no goroutine receives the errors.
func TestErrorsNotDrained(t *testing.T) {
	failures := make(chan error, 1)
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			failures <- errors.New("x")
		}()
	}
	wg.Wait()
	<-failures
}

// Stop and the last event race; the sender does not listen to stop.
func TestSenderIgnoresStop(t *testing.T) {
	events, stop := make(chan int), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-events:
			case <-stop:
				return
			}
		}
	}()
	go func() {
		for i := range 3 {
			events <- i
		}
	}()
	close(stop)
	<-done
}

// Closed twice, by two who both think they are the last.
func TestDoubleClose(t *testing.T) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	stop := func() {
		defer wg.Done()
		select {
		case <-done:
		default:
			close(done)
		}
	}
	wg.Add(2)
	go stop()
	go stop()
	wg.Wait()
}

// A send to a channel that was closed meanwhile.
func TestSendOnClosed(t *testing.T) {
	events := make(chan int, 8)
	var mu sync.Mutex
	closed := false
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		mu.Lock()
		stopped := closed
		mu.Unlock()
		if !stopped {
			events <- 1
		}
	}()
	go func() {
		defer wg.Done()
		mu.Lock()
		closed = true
		mu.Unlock()
		close(events)
	}()
	wg.Wait()
}

// A default that is taken while the peer is still on its way.
func TestSignalLostByDefault(t *testing.T) {
	ready := make(chan struct{})
	go func() {
		select {
		case ready <- struct{}{}:
		default:
		}
	}()
	<-ready
}

// A pipeline whose consumer stops early.
func TestPipelineStopsEarly(t *testing.T) {
	generate := func() <-chan int {
		out := make(chan int)
		go func() {
			defer close(out)
			for i := range 5 {
				out <- i
			}
		}()
		return out
	}
	for v := range generate() {
		if v == 2 {
			break
		}
	}
}
