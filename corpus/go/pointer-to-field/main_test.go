// A function that is not read writes through a pointer or a slice, also if it leads to a field that
// only this package can name.
//
// verdict: TestScan deadlock
// verdict: TestScanUnknown unknown
// model: TestScanUnknown deadlock
// verdict: TestRead unknown
// model: TestRead deadlock
package field

import (
	"fmt"
	"os"
	"testing"
)

type settings struct {
	mode   int
	buffer [4]byte
}

func TestScan(t *testing.T) {
	s := &settings{}
	fmt.Sscan("7", &s.mode)
	if s.mode == 7 {
		<-make(chan int)
	}
}

func TestScanUnknown(t *testing.T) {
	s := &settings{}
	fmt.Sscan(fmt.Sprint(len(os.Args)), &s.mode)
	if s.mode != 0 {
		<-make(chan int)
	}
}

func TestRead(t *testing.T) {
	s := &settings{}
	file, err := os.Open("/etc/passwd")
	if err != nil {
		return
	}
	defer file.Close()
	file.Read(s.buffer[:])
	if s.buffer[0] != 0 {
		<-make(chan int)
	}
}
