// A function that panics inside sync.Once counts as called, and the next call does not wait.
//
// verdict: terminates
package main

import "sync"

var once sync.Once

func initialise() (ok bool) {
	defer func() { ok = recover() == nil }()
	once.Do(func() { panic("no configuration") })
	return
}

func main() {
	first, second := initialise(), initialise()
	if first || !second {
		select {}
	}
	once.Do(func() { select {} })
}
