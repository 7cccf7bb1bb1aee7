// Three sends, two receives.
//
// verdict: leak
// live: false
package main

func main() {
	c := make(chan int)
	for i := 0; i < 3; i++ {
		go func() { c <- i }()
	}
	<-c
	<-c
}
