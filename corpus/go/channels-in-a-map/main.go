// Channels found by name.
//
// verdict: terminates
package main

func main() {
	topics := map[string]chan int{"a": make(chan int), "b": make(chan int)}
	go func() { topics["a"] <- 1 }()
	go func() { topics["b"] <- 2 }()
	<-topics["b"]
	<-topics["a"]
}
