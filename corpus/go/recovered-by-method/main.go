// A deferred method value, and a deferred method of an interface, recover as the method itself would.
//
// verdict: deadlock
package main

type guard struct{ caught *int }

func (g guard) Recover() {
	if recover() != nil {
		*g.caught++
	}
}

type recoverer interface{ Recover() }

type outer struct{ guard }

func main() {
	caught := 0
	func() {
		recovers := outer{guard{&caught}}.Recover
		defer recovers()
		panic("first")
	}()
	func() {
		var recovers recoverer = outer{guard{&caught}}
		defer recovers.Recover()
		panic("second")
	}()
	if caught == 2 {
		<-make(chan int)
	}
}
