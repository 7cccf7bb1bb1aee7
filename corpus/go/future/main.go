// A generic future: its value may be asked for more than once.
//
// verdict: terminates
package main

import (
	"sync"
)

type future[T any] struct {
	once sync.Once
	done chan struct{}
	v    T
}

func async[T any](f func() T) *future[T] {
	r := &future[T]{done: make(chan struct{})}
	go func() { r.v = f(); r.once.Do(func() { close(r.done) }) }()
	return r
}

func (f *future[T]) get() T { <-f.done; return f.v }

func main() {
	a := async(func() int { return 1 })
	b := async(func() string { return "x" })
	println(a.get(), b.get(), a.get())
}
