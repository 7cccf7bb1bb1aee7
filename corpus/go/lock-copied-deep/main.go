// A lock deep inside a struct is copied with it, in the state that it has then.
//
// verdict: deadlock
package main

import "sync"

type first struct{ lock sync.Mutex }
type second struct{ inner first }
type third struct{ inner second }
type fourth struct{ inner third }
type fifth struct{ inner fourth }

func main() {
	var original fifth
	original.inner.inner.inner.inner.lock.Lock()
	copied := original
	original.inner.inner.inner.inner.lock.Unlock()
	copied.inner.inner.inner.inner.lock.Lock()
}
