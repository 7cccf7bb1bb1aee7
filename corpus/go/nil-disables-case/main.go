// A case is switched off by setting its channel to nil.
//
// verdict: terminates
package main

func main() {
	a, b := make(chan int), make(chan int)
	go func() {
		a <- 1
		close(a)
	}()
	go func() {
		b <- 2
		close(b)
	}()
	for a != nil || b != nil {
		select {
		case _, ok := <-a:
			if !ok {
				a = nil
			}
		case _, ok := <-b:
			if !ok {
				b = nil
			}
		}
	}
}
