// What is changed through unsafe pointers is not followed: nothing is known of it. All of these tests
// deadlock, which depends on data that is not known.
//
// verdict: TestString unknown
// model: TestString deadlock
// verdict: TestPointer unknown
// model: TestPointer deadlock
// verdict: TestOtherType unknown
// model: TestOtherType deadlock
package memory

import (
	"testing"
	"unsafe"
)

func TestString(t *testing.T) {
	b := []byte("abc")
	s := unsafe.String(&b[0], 3)
	b[0] = 'x'
	if s == "xbc" {
		<-make(chan int)
	}
}

func TestPointer(t *testing.T) {
	x := [2]int32{1, 2}
	*(*int32)(unsafe.Add(unsafe.Pointer(&x[0]), 4)) = 7
	if x[1] == 7 {
		<-make(chan int)
	}
}

func TestOtherType(t *testing.T) {
	x := struct{ a, b uint32 }{1, 2}
	*(*uint64)(unsafe.Pointer(&x)) = 0
	if x.a == 0 && x.b == 0 {
		<-make(chan int)
	}
}
