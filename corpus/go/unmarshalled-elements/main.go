// json.Unmarshal makes the elements of a slice, and calls their methods.
//
// verdict: unknown
// model: terminates
// assumes: json.Unmarshal
package main

import (
	"encoding/json"
	"sync"
)

var lock sync.Mutex

type state struct{ name string }

func (s *state) UnmarshalJSON([]byte) error {
	lock.Lock()
	defer lock.Unlock()
	return nil
}

func main() {
	lock.Lock()
	defer lock.Unlock()
	var states []state
	json.Unmarshal([]byte(`["running"]`), &states)
}
