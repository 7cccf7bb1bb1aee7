// The lock is in another package, which has tests of its own. It is read all the same.
//
// verdict: deadlock
package main

import "strait.example/corpus/package-with-tests/store"

func main() {
	s := store.New()
	s.Each(func(key string) { s.Delete(key) })
}
