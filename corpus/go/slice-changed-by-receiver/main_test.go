// A receiver changes the slice that a message holds: the sender has the same one.
//
// verdict: TestSlice unknown
// model: TestSlice deadlock
// assumes: what other goroutines do to this data
package changed

import "testing"

func TestSlice(t *testing.T) {
	queue := make(chan []int)
	numbers := []int{1}
	go func() {
		received := <-queue
		received[0] = 5
		queue <- received
	}()
	queue <- numbers
	<-queue
	if numbers[0] == 5 {
		<-make(chan int)
	}
}
