// A shift by a negative amount panics.
//
// verdict: terminates
package main

func shifted(x, by int) (result int) {
	defer func() {
		if recover() != nil {
			result = -1
		}
	}()
	return x << by
}

func main() {
	if shifted(1, 3) != 8 || shifted(1, -1) != -1 {
		<-make(chan int)
	}
}
