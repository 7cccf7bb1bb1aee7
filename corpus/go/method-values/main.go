// Methods as values, interfaces, and embedded types.
//
// verdict: terminates
package main

type runner interface {
	run()
	stop()
}

type base struct {
	quit chan struct{}
}

func (b *base) stop() { close(b.quit) }

type service struct {
	base
	work chan int
}

func (s *service) run() {
	for {
		select {
		case <-s.work:
		case <-s.quit:
			return
		}
	}
}

func newService() *service {
	return &service{base: base{quit: make(chan struct{})}, work: make(chan int)}
}

func main() {
	s := newService()
	var r runner = s
	start := r.run
	go start()
	stop := s.stop
	defer stop()
	s.work <- 1
}
