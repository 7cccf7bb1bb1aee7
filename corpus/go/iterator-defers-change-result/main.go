// Calls that the body of a range over a function has deferred change a named result after the
// return statement has set it: three messages are announced, and there is room for two.
//
// verdict: deadlock
package main

func both(yield func(int) bool) {
	_ = yield(0) && yield(1)
}

func count() (n int) {
	for range both {
		defer func() { n++ }()
	}
	return 1
}

func main() {
	messages := make(chan int, 2)
	for range count() {
		messages <- 0
	}
}
