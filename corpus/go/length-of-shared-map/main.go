// The length of a map to which two goroutines have added an entry each.
//
// verdict: terminates
package main

import "sync"

func main() {
	counts := map[string]int{}
	var lock sync.Mutex
	var group sync.WaitGroup
	for _, word := range []string{"a", "b", "a"} {
		group.Go(func() {
			lock.Lock()
			defer lock.Unlock()
			counts[word]++
		})
	}
	group.Wait()
	if len(counts) != 2 {
		<-make(chan int)
	}
}
