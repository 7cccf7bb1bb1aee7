// Functions of the standard library that panic when they are given what they refuse.
//
// verdict: terminates
package main

import (
	"context"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return
}

func main() {
	var parent context.Context
	var names sync.Map
	var counter *atomic.Int32
	base, none := 99, 0
	all := panics(func() { time.NewTicker(0) }) &&
		panics(func() { context.WithCancel(parent) }) &&
		panics(func() { context.WithValue(context.Background(), nil, 1) }) &&
		panics(func() { names.Store([]int{1}, 1) }) &&
		panics(func() { counter.Add(1) }) &&
		panics(func() { regexp.MustCompile("(") }) &&
		panics(func() { rand.IntN(none) }) &&
		panics(func() { _ = strconv.FormatInt(1, base) })
	if !all || time.Tick(0) != nil || panics(func() { regexp.MustCompile("a+") }) {
		<-make(chan int)
	}
}
