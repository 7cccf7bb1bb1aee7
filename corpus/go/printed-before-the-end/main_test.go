// What a test prints before it ends, and the error of a panic that ends the program, are asked for
// their texts.
//
// verdict: TestSkip unknown
// model: TestSkip terminates
// verdict: TestPanic unknown
// model: TestPanic panic
// assumes: a function or method is handed to
package printed

import "testing"

type name struct{ queue chan int }

func (n name) String() string {
	n.queue <- 1
	return "name"
}

type failure struct{ queue chan int }

func (f failure) Error() string {
	f.queue <- 1
	return "failure"
}

func TestSkip(t *testing.T) { t.Skip(name{make(chan int)}) }

func TestPanic(t *testing.T) { panic(failure{make(chan int)}) }
