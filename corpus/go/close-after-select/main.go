// A select with a default says that the channel is open; then somebody else closes it.
//
// verdict: panic
package main

// Two stoppers check with select and default, then close: both may pass the check.
type server struct{ quit chan struct{} }

func (s *server) Stop() {
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
}

func main() {
	s := &server{quit: make(chan struct{})}
	done := make(chan bool)
	go func() { s.Stop(); done <- true }()
	s.Stop()
	<-done
}
