// Package channels holds leaks and panics around channels.
package channels

import (
	"sync"
	"testing"
	"time"
)

// The first answer is taken; who comes second stays.
func TestSecondAnswer(t *testing.T) {
	answers := make(chan int)
	for i := range 2 {
		go func() { answers <- i }()
	}
	<-answers
}

// If the test is told to stop first, the sender stays.
func TestStopped(t *testing.T) {
	results, stop := make(chan int), make(chan bool)
	go func() { results <- 1 }()
	go func() {
		time.Sleep(50 * time.Millisecond)
		close(stop)
	}()
	select {
	case <-results:
	case <-stop:
	}
}

// Two lines may be the one that closes again; the cause is the same.
func TestClosedTwice(t *testing.T) {
	done := make(chan bool)
	var group sync.WaitGroup
	group.Add(2)
	go func() {
		defer group.Done()
		select {
		case <-done:
		default:
			close(done)
		}
	}()
	go func() {
		defer group.Done()
		select {
		case <-done:
		default:
			close(done)
		}
	}()
	group.Wait()
}

// These two wait for different messages; they have nothing in common.
func TestOneMissing(t *testing.T) { <-make(chan int) }

func TestOtherMissing(t *testing.T) { <-make(chan bool) }

func TestManyCases(t *testing.T) {
	var c [8]chan int
	for i := range c {
		c[i] = make(chan int)
	}
	go func() {
		select {
		case <-c[0]:
		case <-c[1]:
		case <-c[2]:
		case <-c[3]:
		case <-c[4]:
		case <-c[5]:
		case <-c[6]:
		case c[7] <- 1:
		}
	}()
}
