// An alias is another name of one type: fields that are set by one name are read by the other, and so
// are bytes and the messages of channels. Three messages are sent, and there is room for two.
//
// verdict: deadlock
package main

type counter struct{ n int }

type tally = counter

func increment(t *tally) { t.n++ }

func fill(bytes []byte) { bytes[0] = 1 }

func send(tallies chan<- tally) { tallies <- tally{1} }

func main() {
	messages := make(chan int, 2)
	c := &counter{}
	increment(c)
	numbers := []uint8{0}
	fill(numbers)
	counters := make(chan counter, 1)
	send(counters)
	for range c.n + int(numbers[0]) + (<-counters).n {
		messages <- 0
	}
}
