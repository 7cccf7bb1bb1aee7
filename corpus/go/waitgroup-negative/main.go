// Done is called once too often.
//
// verdict: panic
package main

import "sync"

func main() {
	var wg sync.WaitGroup
	wg.Add(1)
	go wg.Done()
	wg.Done()
	wg.Wait()
}
