// A strings.Builder that was used is copied, and the copy panics when it is used.
//
// verdict: deadlock
package main

import "strings"

func main() {
	failed := false
	func() {
		defer func() { failed = recover() != nil }()
		var first strings.Builder
		first.WriteString("x")
		second := first
		second.WriteString("y")
	}()
	if failed {
		<-make(chan int)
	}
}
