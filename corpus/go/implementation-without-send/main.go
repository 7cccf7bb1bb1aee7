// Which implementation it is depends on the arguments; one of them sends nothing.
//
// verdict: deadlock
package main

import (
	"os"
)

type notifier interface{ notify(chan<- int) }

type loud struct{}

type quiet struct{}

func (loud) notify(c chan<- int) { c <- 1 }

func (quiet) notify(c chan<- int) {}

func choose() notifier {
	if len(os.Args) > 1 {
		return loud{}
	}
	return quiet{}
}

func main() {
	c := make(chan int)
	n := choose()
	go n.notify(c)
	<-c
}
