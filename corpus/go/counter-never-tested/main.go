// A server counts its requests. No condition depends on the counter, so it does not make states
// differ, and the program has finitely many of them.
//
// verdict: diverges
// live: true
package main

type request struct{ reply chan int }

type server struct {
	requests chan request
	served   int
}

func (s *server) serve() {
	for r := range s.requests {
		s.served++
		r.reply <- 0
	}
}

func main() {
	s := &server{requests: make(chan request)}
	go s.serve()
	reply := make(chan int)
	for {
		s.requests <- request{reply}
		<-reply
	}
}
