// Keys are sorted before the locks are taken, so all goroutines take them in the same order.
//
// verdict: terminates
package main

import (
	"slices"
	"sync"
)

var locks = map[string]*sync.Mutex{"users": {}, "orders": {}, "items": {}}

func lockAll(names ...string) {
	slices.Sort(names)
	for _, name := range names {
		locks[name].Lock()
	}
	for _, name := range names {
		locks[name].Unlock()
	}
}

func main() {
	var wg sync.WaitGroup
	wg.Go(func() { lockAll("users", "orders") })
	wg.Go(func() { lockAll("orders", "items", "users") })
	wg.Wait()
}
