// Requests carry a channel for the answer; who gave up after a timeout leaves the stream waiting to answer.
//
// verdict: TestWatch leak
package kernels

import (
	"context"
	"sync"
	"testing"
	"time"
)

type WatchChan chan int
type watcher struct {
	mu      sync.RWMutex
	streams map[string]*stream
	closec  chan struct{}
}
type stream struct {
	owner  *watcher
	reqc   chan *request
	respc  chan int
	stopc  chan struct{}
	donec  chan struct{}
	errc   chan error
	resume chan struct{}
}
type request struct {
	ctx  context.Context
	retc chan chan int
}

func newWatcher() *watcher {
	return &watcher{streams: make(map[string]*stream), closec: make(chan struct{})}
}

func (w *watcher) newStream(ctx context.Context) *stream {
	s := &stream{owner: w, reqc: make(chan *request), respc: make(chan int), stopc: make(chan struct{}), donec: make(chan struct{}), errc: make(chan error, 1), resume: make(chan struct{})}
	go s.run()
	return s
}

func (s *stream) run() {
	defer close(s.donec)
	for {
		select {
		case r := <-s.reqc:
			out := make(chan int, 1)
			r.retc <- out
		case <-s.stopc:
			return
		}
	}
}

func (w *watcher) watch(ctx context.Context) chan int {
	r := &request{ctx: ctx, retc: make(chan chan int)}
	w.mu.Lock()
	s := w.streams["a"]
	if s == nil {
		s = w.newStream(ctx)
		w.streams["a"] = s
	}
	w.mu.Unlock()
	select {
	case s.reqc <- r:
	case <-s.donec:
		return nil
	}
	select {
	case ret := <-r.retc:
		return ret
	case <-ctx.Done():
		return nil
	}
}

func TestWatch(t *testing.T) {
	w := newWatcher()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	w.watch(ctx)
}
