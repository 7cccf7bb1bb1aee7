// A merge of two channels, each of them dropped when it is closed.
//
// verdict: terminates
package main

func main() {
	a, b := make(chan int), make(chan int)
	done := make(chan struct{})
	go func() {
		defer close(a)
		for i := range 2 {
			a <- i
		}
	}()
	go func() {
		defer close(b)
		for i := range 2 {
			b <- i
		}
	}()
	go func() {
		defer close(done)
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
	}()
	<-done
}
