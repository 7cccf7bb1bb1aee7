// Three sends, three receives.
//
// verdict: terminates
// live: true
package main

func main() {
	c := make(chan int)
	for i := 0; i < 3; i++ {
		go func() { c <- i }()
	}
	for range 3 {
		<-c
	}
}
