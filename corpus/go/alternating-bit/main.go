// The alternating bit protocol over a wire that may lose messages: sender and receiver stay in step
// because the bit tells a message from its repetition.
//
// verdict: diverges
// no-deadlock: true
package main

import "math/rand"

type frame struct {
	bit int
}

func lossy(in <-chan frame, out chan<- frame) {
	for f := range in {
		if rand.Intn(10) > 0 {
			out <- f
		}
	}
}

func sender(out chan<- frame, acks <-chan int) {
	bit := 0
	for {
		select {
		case out <- frame{bit}:
		case ack := <-acks:
			if ack == bit {
				bit = 1 - bit
			}
		}
	}
}

func receiver(in <-chan frame, acks chan<- int) {
	expected := 0
	for f := range in {
		if f.bit == expected {
			expected = 1 - expected
		}
		acks <- f.bit
	}
}

func main() {
	wire, delivered, acks := make(chan frame), make(chan frame), make(chan int)
	go lossy(wire, delivered)
	go receiver(delivered, acks)
	sender(wire, acks)
}
