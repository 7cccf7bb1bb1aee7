// The zero of a complex type is the constant 0.
//
// verdict: deadlock
package main

func main() {
	var z complex128
	if z == 0 {
		<-make(chan int)
	}
}
