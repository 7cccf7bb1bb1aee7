// The panic of a failed type assertion and that of panic(nil) have types of their own.
//
// verdict: terminates
package main

import "runtime"

func recovered(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

func main() {
	var text any = "text"
	_, isAssertion := recovered(func() { _ = text.(int) }).(*runtime.TypeAssertionError)
	_, isNil := recovered(func() { panic(nil) }).(*runtime.PanicNilError)
	if !isAssertion || !isNil {
		<-make(chan int)
	}
}
