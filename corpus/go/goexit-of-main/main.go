// The main goroutine ends by Goexit: when the others have ended, the program is stuck.
//
// verdict: deadlock
package main

import "runtime"

func main() {
	go func() {}()
	runtime.Goexit()
}
