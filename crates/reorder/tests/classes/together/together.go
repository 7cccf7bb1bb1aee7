// Package together holds a library whose goroutines are left by several tests for one reason.
package together

import "time"

// Counter counts what is added to it.
type Counter struct {
	In    chan int
	total chan int
}

// NewAdder sums.
func NewAdder() *Counter {
	counter := &Counter{make(chan int), make(chan int)}
	go counter.add()
	return counter
}

// NewMultiplier multiplies.
func NewMultiplier() *Counter {
	counter := &Counter{make(chan int), make(chan int)}
	go counter.multiply()
	return counter
}

func (c *Counter) add() {
	total := 0
	for {
		select {
		case value, open := <-c.In:
			if !open {
				return
			}
			total += value
		case c.total <- total:
		}
	}
}

func (c *Counter) multiply() {
	total := 1
	for {
		select {
		case value, open := <-c.In:
			if !open {
				return
			}
			total *= value
		case c.total <- total:
		}
	}
}

// Total is the result so far.
func (c *Counter) Total() int { return <-c.total }

// Offer gives up after a millisecond.
func Offer(to chan<- int, value int) {
	select {
	case to <- value:
	case <-time.After(time.Millisecond):
	}
}
