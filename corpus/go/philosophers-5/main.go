// Five philosophers with mutexes as forks, each of whom eats once: they may starve together.
//
// verdict: deadlock
// no-deadlock: false
package main

import "sync"

func main() {
	var forks [5]sync.Mutex
	var dinner sync.WaitGroup
	for i := range 5 {
		dinner.Add(1)
		go func() {
			defer dinner.Done()
			forks[i].Lock()
			forks[(i+1)%5].Lock()
			forks[(i+1)%5].Unlock()
			forks[i].Unlock()
		}()
	}
	dinner.Wait()
}
