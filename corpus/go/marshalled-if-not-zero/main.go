// json.Marshal asks a field with omitzero whether it is zero, which waits for a lock here.
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

type amount int

func (a amount) IsZero() bool {
	lock.Lock()
	defer lock.Unlock()
	return a == 0
}

func main() {
	lock.Lock()
	_, _ = json.Marshal(struct {
		Amount amount `json:",omitzero"`
	}{})
}
