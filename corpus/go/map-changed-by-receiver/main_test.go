// A receiver changes the map that a message holds: the sender has the same one.
//
// verdict: TestMap deadlock
package changed

import "testing"

func TestMap(t *testing.T) {
	queue := make(chan map[string]int)
	numbers := map[string]int{}
	go func() {
		received := <-queue
		received["a"] = 5
		queue <- received
	}()
	queue <- numbers
	<-queue
	if numbers["a"] == 5 {
		<-make(chan int)
	}
}
