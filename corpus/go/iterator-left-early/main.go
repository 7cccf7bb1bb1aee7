// A loop over an iterator is left after the first channel.
//
// verdict: leak
package main

import (
	"iter"
)

func each(cs []chan int) iter.Seq[chan int] {
	return func(yield func(chan int) bool) {
		for _, c := range cs {
			if !yield(c) {
				return
			}
		}
	}
}

func main() {
	cs := []chan int{make(chan int), make(chan int)}
	for c := range each(cs) {
		go func() { c <- 1 }()
	}
	for c := range each(cs) {
		<-c
		break
	}
}
