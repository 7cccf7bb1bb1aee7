// The receive depends on something unknown, the send does not.
//
// verdict: leak
// live: false
package main

import "os"

func main() {
	c := make(chan int)
	go func() { c <- 1 }()
	if len(os.Args) > 1 {
		<-c
	}
}
