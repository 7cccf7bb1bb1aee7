// Two appends to the same slice with spare capacity write the same element: the second channel is
// in both results, and the first is never closed.
//
// verdict: deadlock
package main

func main() {
	listeners := make([]chan bool, 0, 4)
	first, second := make(chan bool), make(chan bool)
	mine := append(listeners, first)
	yours := append(listeners, second)
	close(mine[0])
	if mine[0] == yours[0] {
		<-first
	}
}
