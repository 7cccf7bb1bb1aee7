// A map that comes with a message, or as an entry of a map that goroutines share, holds what its
// sender has put into it. TestWritten writes it afterwards.
//
// verdict: TestReceived deadlock
// verdict: TestReceivedFixed terminates
// verdict: TestEntry deadlock
// verdict: TestEntryFixed terminates
// verdict: TestWritten deadlock
package maps

import "testing"

func send() map[string]int {
	queue := make(chan map[string]int, 1)
	go func() { queue <- map[string]int{"a": 3} }()
	return <-queue
}

func TestReceived(t *testing.T) {
	if send()["a"] == 3 {
		<-make(chan int)
	}
}

func TestReceivedFixed(t *testing.T) {
	if send()["a"] != 3 {
		<-make(chan int)
	}
}

func fill() map[string]map[string]int {
	numbers := map[string]map[string]int{}
	done := make(chan struct{})
	go func() {
		numbers["a"] = map[string]int{"b": 4}
		close(done)
	}()
	<-done
	return numbers
}

func TestEntry(t *testing.T) {
	if fill()["a"]["b"] == 4 {
		<-make(chan int)
	}
}

func TestEntryFixed(t *testing.T) {
	if fill()["a"]["b"] != 4 {
		<-make(chan int)
	}
}

func TestWritten(t *testing.T) {
	queue := make(chan map[string]int, 1)
	numbers := map[string]int{"a": 1}
	queue <- numbers
	numbers["a"] = 2
	if (<-queue)["a"] == 2 {
		<-make(chan int)
	}
}
