// A function that is not read changes variables whose addresses it is given among others.
//
// verdict: TestScan deadlock
// verdict: TestScanf deadlock
package scanned

import (
	"fmt"
	"testing"
)

func TestScan(t *testing.T) {
	var a, b int
	fmt.Sscan("3 4", &a, &b)
	if a+b == 7 {
		<-make(chan int)
	}
}

func TestScanf(t *testing.T) {
	var name string
	if n, err := fmt.Sscanf("x-y", "x-%s", &name); n == 1 && err == nil && name == "y" {
		<-make(chan int)
	}
}
