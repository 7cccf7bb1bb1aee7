// A directive gives a function without a body that of another package, which waits forever.
//
// verdict: unknown
// model: terminates
// assumes: is not read
package main

import (
	_ "unsafe"

	"strait.example/corpus/linked-names/hidden"
)

//go:linkname pull strait.example/corpus/linked-names/hidden.wait
func pull()

func main() {
	hidden.Count()
	pull()
}
