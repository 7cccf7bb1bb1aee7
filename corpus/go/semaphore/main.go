// A buffered channel limits how many work at once.
//
// verdict: terminates
package main

import "sync"

func main() {
	slots := make(chan struct{}, 2)
	var wg sync.WaitGroup
	for i := 0; i < 3; i++ {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer func() {
				<-slots
				wg.Done()
			}()
		}()
	}
	wg.Wait()
}
