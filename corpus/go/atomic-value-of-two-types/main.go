// An atomic.Value refuses values of another type than the first one, and nil.
//
// verdict: terminates
package main

import "sync/atomic"

func refuses(v *atomic.Value, x any) (refused bool) {
	defer func() { refused = recover() != nil }()
	v.Store(x)
	return
}

func main() {
	var v atomic.Value
	if refuses(&v, 1) || refuses(&v, 2) || !refuses(&v, "text") || !refuses(&v, nil) || v.Load() != 2 {
		<-make(chan int)
	}
}
