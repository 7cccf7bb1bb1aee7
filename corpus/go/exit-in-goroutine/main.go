// os.Exit in a goroutine ends the program, so main does not wait forever.
//
// verdict: terminates
// model: panic
package main

import "os"

func main() {
	go func() { os.Exit(0) }()
	<-make(chan bool)
}
