// A nil pointer to an array is sliced, which panics.
//
// verdict: deadlock
package main

func main() {
	failed := false
	func() {
		defer func() { failed = recover() != nil }()
		var array *[3]int
		_ = array[:]
	}()
	if failed {
		<-make(chan int)
	}
}
