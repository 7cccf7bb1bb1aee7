// Helper is what Strait lets the user's own go run.
//
//	helper overlay GOROOT HOOKS OUT
//
// derives the overlay from the sources of a GOROOT: HOOKS holds the files to be added, OUT receives
// the changed and added files and overlay.json, the file that `go build -overlay` reads.
//
//	helper selects FILE…
//
// writes a line of JSON for every select statement of the files.
package main

import (
	"fmt"
	"os"
)

func main() {
	err := fmt.Errorf("usage: helper overlay GOROOT HOOKS OUT | helper selects FILE…")
	switch {
	case len(os.Args) == 5 && os.Args[1] == "overlay":
		err = overlay(os.Args[2], os.Args[3], os.Args[4])
	case len(os.Args) > 1 && os.Args[1] == "selects":
		err = selects(os.Args[2:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
