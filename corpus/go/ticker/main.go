// A ticker loop that is told to stop.
//
// verdict: diverges
package main

import "time"

type poller struct {
	ticker *time.Ticker
	quit   chan struct{}
	gone   chan struct{}
}

func (p *poller) loop() {
	defer close(p.gone)
	for {
		select {
		case <-p.ticker.C:
			println("tick")
		case <-p.quit:
			p.ticker.Stop()
			return
		}
	}
}

func main() {
	p := &poller{time.NewTicker(time.Second), make(chan struct{}), make(chan struct{})}
	go p.loop()
	close(p.quit)
	<-p.gone
}
