// A server with a request channel, a logger with another: each request carries where to answer.
//
// verdict: leak
package main

type request struct {
	value int
	reply chan int
}

type system struct {
	requests chan request
	logs     chan string
}

func (s *system) serve() {
	for r := range s.requests {
		s.logs <- "request"
		r.reply <- r.value + 1
	}
	close(s.logs)
}

func (s *system) log() {
	for range s.logs {
	}
}

func ask(s *system, value int) int {
	reply := make(chan int)
	s.requests <- request{value, reply}
	return <-reply
}

func main() {
	s := &system{make(chan request), make(chan string)}
	go s.serve()
	go s.log()
	ask(s, 1)
	ask(s, 2)
}
