// Only the first error is read: the second goroutine cannot report.
//
// verdict: leak
package main

import (
	"errors"
	"log"
	"os"
)

// Two workers report, only the first error is read.
func check(name string) error {
	if len(os.Args) > len(name) {
		return errors.New(name)
	}
	return nil
}

func main() {
	errc := make(chan error)
	for _, n := range []string{"a", "bb"} {
		go func() { errc <- check(n) }()
	}
	for range 2 {
		if err := <-errc; err != nil {
			log.Print(err)
			return
		}
	}
}
