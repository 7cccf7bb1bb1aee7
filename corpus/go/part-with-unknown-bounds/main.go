// A part of an array whose bounds come from outside is still a part of that array.
//
// verdict: unknown
// model: deadlock
package main

import "os"

func main() {
	numbers := []int{1, 2, 3}
	part := numbers[:min(2, len(os.Args))]
	part[0] = 7
	appended := append(part[:0], 8)
	_ = appended
	if numbers[0] == 8 {
		<-make(chan int)
	}
}
