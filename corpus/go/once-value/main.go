// Functions that run once, with and without results.
//
// verdict: terminates
package main

import (
	"sync"
)

func main() {
	c := make(chan int)
	stop := sync.OnceFunc(func() { close(c) })
	v := sync.OnceValue(func() int { return 4 })
	w := sync.OnceValues(func() (int, error) { return 4, nil })
	go stop()
	go stop()
	<-c
	println(v())
	n, _ := w()
	println(n)
}
