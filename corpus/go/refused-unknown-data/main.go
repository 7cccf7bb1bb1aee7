// A length that may be negative, a nil pointer that unread code returns, and a method of a nil
// interface: each panics or not, depending on what is not known.
//
// verdict: unknown
// model: deadlock
package main

import (
	"flag"
	"os"
	"reflect"
)

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return
}

func main() {
	length := len(os.Args) - 100
	if panics(func() { _ = make([]int, length) }) &&
		panics(func() { _ = flag.Lookup("no-such-flag").Name }) &&
		panics(func() { _ = reflect.TypeOf(nil).Kind() }) {
		<-make(chan int)
	}
}
