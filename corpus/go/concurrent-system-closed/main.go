// The same system, shut down.
//
// verdict: terminates
package main

type request struct {
	value int
	reply chan int
}

func serve(requests <-chan request, stopped chan<- struct{}) {
	defer close(stopped)
	for r := range requests {
		r.reply <- r.value + 1
	}
}

func main() {
	requests := make(chan request)
	stopped := make(chan struct{})
	go serve(requests, stopped)
	for i := range 2 {
		reply := make(chan int)
		requests <- request{i, reply}
		<-reply
	}
	close(requests)
	<-stopped
}
