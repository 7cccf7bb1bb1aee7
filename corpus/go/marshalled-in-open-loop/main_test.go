// A function with a loop of unknown length hands a method to unread code.
//
// verdict: TestMarshal deadlock
package marshalled

import (
	"encoding/json"
	"os"
	"testing"
)

type message struct{ queue chan int }

func (m message) MarshalJSON() ([]byte, error) {
	m.queue <- 1
	return []byte("1"), nil
}

func size(m message, n int) int {
	total := 0
	for i := 0; i < n; i++ {
		text, _ := json.Marshal(m)
		total += len(text)
	}
	return total
}

func TestMarshal(t *testing.T) {
	size(message{make(chan int)}, len(os.Args))
}
