// The channel of a timer has no buffer, since Go 1.23.
//
// verdict: terminates
package main

import "time"

func main() {
	timer := time.NewTimer(0)
	if cap(timer.C) != 0 || len(timer.C) != 0 {
		<-make(chan int)
	}
	<-timer.C
}
