// A method of a nil interface is deferred: that panics at once, not when the call ends.
//
// verdict: deadlock
package main

type runner interface{ Run() }

func main() {
	reached := false
	func() {
		defer func() { _ = recover() }()
		var nothing runner
		defer nothing.Run()
		reached = true
	}()
	if !reached {
		<-make(chan int)
	}
}
