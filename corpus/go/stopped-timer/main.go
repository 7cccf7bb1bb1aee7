// A timer that was stopped before it fired delivers nothing.
//
// verdict: deadlock
package main

import "time"

func main() {
	timer := time.NewTimer(time.Hour)
	if timer.Stop() {
		<-timer.C
	}
}
