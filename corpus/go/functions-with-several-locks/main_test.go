// Workers call functions that come over a channel. Each function uses two locks, which the workers
// do not know otherwise.
//
// verdict: TestOpposite deadlock
// verdict: TestSame terminates
// verdict: TestSubmitsItself deadlock
package functions

import (
	"sync"
	"testing"
)

func work(tasks chan func(), group *sync.WaitGroup) {
	for range 2 {
		group.Go(func() {
			for task := range tasks {
				task()
			}
		})
	}
}

func both(a, b *sync.Mutex) {
	a.Lock()
	b.Lock()
	b.Unlock()
	a.Unlock()
}

func TestOpposite(t *testing.T) {
	var a, b sync.Mutex
	var group sync.WaitGroup
	tasks := make(chan func())
	work(tasks, &group)
	tasks <- func() { both(&a, &b) }
	tasks <- func() { both(&b, &a) }
	close(tasks)
	group.Wait()
}

func TestSame(t *testing.T) {
	var a, b sync.Mutex
	var group sync.WaitGroup
	tasks := make(chan func())
	work(tasks, &group)
	tasks <- func() { both(&a, &b) }
	tasks <- func() { both(&a, &b) }
	close(tasks)
	group.Wait()
}

type pool struct {
	quit  chan struct{}
	calls chan func()
}

func (p *pool) run() {
	for {
		select {
		case call := <-p.calls:
			call()
		case <-p.quit:
			return
		}
	}
}

func TestSubmitsItself(t *testing.T) {
	p := &pool{quit: make(chan struct{}), calls: make(chan func())}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.run()
	}()
	p.calls <- func() { p.calls <- func() {} }
	close(p.quit)
	<-done
}
