// NaN is a key that no lookup finds, and each assignment adds an entry. The zeros are one key. How many
// entries there are is not followed.
//
// verdict: unknown
// model: deadlock
package main

import "math"

func main() {
	names := map[float64]int{}
	nan := math.NaN()
	names[nan] = 1
	names[nan] = 2
	if _, found := names[nan]; found || len(names) != 2 {
		<-make(chan int)
	}
}
