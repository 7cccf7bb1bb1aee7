// A directive makes two variables one: what another package writes is read here.
//
// verdict: unknown
// model: terminates
// assumes: is linked with another one
package main

import (
	_ "unsafe"

	"strait.example/corpus/linked-variable/hidden"
)

//go:linkname counter strait.example/corpus/linked-variable/hidden.counter
var counter int

func main() {
	hidden.Count()
	if counter == 1 {
		<-make(chan int)
	}
}
