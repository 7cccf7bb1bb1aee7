// Package reachable holds goroutines that look blocked but are not: something that is not a goroutine of
// the program can still wake them.
package reachable

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

type cache struct {
	*inner
}

type inner struct {
	get  chan int
	stop chan bool
}

func (i *inner) serve() {
	for {
		select {
		case <-i.get:
		case <-i.stop:
			return
		}
	}
}

// The worker ends when the collector finds that nothing uses the cache, as in go-cache.
func TestFinalizer(t *testing.T) {
	i := &inner{make(chan int), make(chan bool)}
	go i.serve()
	c := &cache{i}
	runtime.SetFinalizer(c, func(c *cache) { close(c.stop) })
	c.get <- 1
	runtime.KeepAlive(c)
}

func TestCleanup(t *testing.T) {
	i := &inner{make(chan int), make(chan bool)}
	go i.serve()
	c := &cache{i}
	runtime.AddCleanup(c, func(stop chan bool) { close(stop) }, i.stop)
	c.get <- 1
	runtime.KeepAlive(c)
}

// The finalizer of one object wakes a goroutine by way of another object.
func TestFinalizerOfAnother(t *testing.T) {
	type other struct{ inner *inner }
	i := &inner{make(chan int), make(chan bool)}
	go i.serve()
	o := &other{i}
	runtime.SetFinalizer(o, func(o *other) { go close(o.inner.stop) })
	runtime.KeepAlive(o)
}

func TestSignal(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR2)
	go func() { <-signals }()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGUSR1)
	defer stop()
	go func() { <-ctx.Done() }()
}

func TestTimer(t *testing.T) {
	later := make(chan bool)
	time.AfterFunc(time.Hour, func() { close(later) })
	go func() { <-later }()
}

func TestAfterCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan bool)
	context.AfterFunc(ctx, func() { done <- true })
	cancel(errors.New("enough"))
	<-done
}

func TestCoroutine(t *testing.T) {
	numbers := iter.Seq[int](func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	next, stop := iter.Pull(numbers)
	next()
	stop()
	forgotten, _ := iter.Pull(numbers)
	forgotten()
}

func TestReflection(t *testing.T) {
	a, b := make(chan int), make(chan int)
	go func() { a <- 1 }()
	go func() { b <- 2 }()
	receive := func(c chan int) reflect.SelectCase {
		return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)}
	}
	cases := []reflect.SelectCase{receive(a), receive(b)}
	for range cases {
		chosen, _, _ := reflect.Select(cases)
		cases[chosen].Chan = reflect.Value{}
	}
}

func TestLockedThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		done <- true
	}()
	<-done
}

func TestRecoveredPanic(t *testing.T) {
	closed := make(chan int)
	close(closed)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	closed <- 1
}

// No goroutine is left by the hooks.
func TestNumberOfGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	var group sync.WaitGroup
	for range 5 {
		group.Add(1)
		go group.Done()
	}
	group.Wait()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error(runtime.NumGoroutine(), before)
}
