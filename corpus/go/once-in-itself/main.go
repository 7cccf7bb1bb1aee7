// A sync.Once that is asked again by its own function waits for itself.
//
// verdict: deadlock
package main

import "sync"

var once sync.Once

func setup() {
	once.Do(setup)
}

func main() {
	setup()
}
