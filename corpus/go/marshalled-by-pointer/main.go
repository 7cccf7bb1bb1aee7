// json.Marshal calls methods of pointers to the elements of a slice, which wait here for a lock.
//
// verdict: unknown
// model: terminates
// assumes: json.Marshal
package main

import (
	"encoding/json"
	"sync"
)

var lock sync.Mutex

type state struct{ name string }

func (s *state) MarshalJSON() ([]byte, error) {
	lock.Lock()
	defer lock.Unlock()
	return json.Marshal(s.name)
}

func main() {
	lock.Lock()
	defer lock.Unlock()
	json.Marshal([]state{{"running"}})
}
