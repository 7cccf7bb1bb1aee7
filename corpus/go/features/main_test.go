// One test for each corner of the language that the extraction has to follow exactly.
//
// verdict: TestPackageVariable terminates
// verdict: TestRangeFunc terminates
// verdict: TestLabels terminates
// verdict: TestTypeSwitch terminates
// verdict: TestRecursion terminates
// verdict: TestDeferLoop terminates
// verdict: TestStructCopy terminates
// verdict: TestSharedCounter terminates
// verdict: TestErr leak
// verdict: TestMapOfStructs terminates
// verdict: TestSharedSliceOfChans terminates
// verdict: TestRWStarve terminates
// verdict: TestSendClosed panic
// verdict: TestPtrParam terminates
// verdict: TestIfaceField terminates
// verdict: TestDoneTwice panic
// verdict: TestTimerStop terminates
// verdict: TestGlobalChan terminates
// verdict: TestMutualRecursion terminates
package features

import (
	"errors"
	"iter"
	"sync"
	"testing"
	"time"
)

func seq(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			if !yield(i) {
				return
			}
		}
	}
}
func TestRangeFunc(t *testing.T) {
	c := make(chan int, 3)
	for i := range seq(5) {
		if i == 3 {
			break
		}
		c <- i
	}
	<-c
}
func TestLabels(t *testing.T) {
	c := make(chan int)
	quit := make(chan bool)
	go func() { c <- 1; close(quit) }()
loop:
	for {
		select {
		case <-c:
			continue loop
		case <-quit:
			break loop
		}
	}
}

type msg interface{}
type ping struct{ back chan int }
type stop struct{}

func TestTypeSwitch(t *testing.T) {
	in := make(chan msg)
	done := make(chan bool)
	go func() {
		for m := range in {
			switch m := m.(type) {
			case ping:
				m.back <- 1
			}
		}
		close(done)
	}()
	b := make(chan int)
	in <- ping{b}
	<-b
	close(in)
	<-done
}
func walk(n int, c chan int) int {
	if n == 0 {
		return 0
	}
	c <- n
	return walk(n-1, c) + walk(n-1, c)
}
func TestRecursion(t *testing.T) {
	c := make(chan int, 8)
	walk(3, c)
}
func TestDeferLoop(t *testing.T) {
	var wg sync.WaitGroup
	c := make(chan int)
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := 0; j < 2; j++ {
				defer func() { c <- j }()
			}
		}()
	}
	go func() { wg.Wait(); close(c) }()
	for range c {
	}
}

type conf struct {
	c chan int
	n int
}

func (x conf) run() { x.c <- x.n }
func TestStructCopy(t *testing.T) {
	a := conf{make(chan int), 1}
	b := a
	b.n = 2
	go b.run()
	if <-a.c != 2 {
		var n chan int
		<-n
	}
}
func TestSharedCounter(t *testing.T) {
	var mu sync.Mutex
	count := 0
	done := make(chan struct{})
	for i := 0; i < 3; i++ {
		go func() {
			mu.Lock()
			defer mu.Unlock()
			count++
			if count == 3 {
				close(done)
			}
		}()
	}
	<-done
}
func work() error {
	if time.Now().Unix()%2 == 0 {
		return errors.New("x")
	}
	return nil
}
func TestErr(t *testing.T) {
	c := make(chan error)
	go func() { c <- work() }()
	if err := work(); err != nil {
		return
	}
	<-c
}

type room struct {
	mu    sync.Mutex
	users map[string]*user
}
type user struct{ out chan string }

func (r *room) join(n string) *user {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := &user{make(chan string, 2)}
	r.users[n] = u
	return u
}
func (r *room) say(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range r.users {
		u.out <- s
	}
}
func TestMapOfStructs(t *testing.T) {
	r := &room{users: map[string]*user{}}
	a := r.join("a")
	b := r.join("b")
	go r.say("x")
	<-a.out
	<-b.out
}
func TestSharedSliceOfChans(t *testing.T) {
	var outs []chan int
	for i := 0; i < 3; i++ {
		outs = append(outs, make(chan int))
	}
	go func() {
		for _, c := range outs {
			c <- 1
		}
	}()
	for i := range outs {
		<-outs[i]
	}
}
func TestRWStarve(t *testing.T) {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { mu.RLock(); mu.RUnlock(); wg.Done() }()
	go func() { mu.Lock(); mu.Unlock(); wg.Done() }()
	wg.Wait()
}
func TestSendClosed(t *testing.T) {
	c := make(chan int, 1)
	go close(c)
	c <- 1
}
func fill(p *chan int) { *p = make(chan int, 1) }
func TestPtrParam(t *testing.T) {
	var c chan int
	fill(&c)
	c <- 1
}

type sink interface{ put(int) }
type chanSink struct{ c chan int }

func (s chanSink) put(n int) { s.c <- n }

type holder struct{ s sink }

func TestIfaceField(t *testing.T) {
	c := make(chan int)
	h := &holder{s: chanSink{c}}
	go func() { h.s.put(1) }()
	<-c
}
func TestDoneTwice(t *testing.T) {
	var wg sync.WaitGroup
	wg.Add(1)
	wg.Done()
	wg.Done()
}
func TestTimerStop(t *testing.T) {
	timer := time.NewTimer(time.Second)
	c := make(chan int, 1)
	c <- 1
	select {
	case <-timer.C:
	case <-c:
		if !timer.Stop() {
			<-timer.C
		}
	}
}

var events = make(chan int, 1)

func TestGlobalChan(t *testing.T) {
	go func() { events <- 1 }()
	<-events
}
func even(n int, c chan bool) {
	if n == 0 {
		c <- true
		return
	}
	odd(n-1, c)
}
func odd(n int, c chan bool) {
	if n == 0 {
		c <- false
		return
	}
	even(n-1, c)
}
func TestMutualRecursion(t *testing.T) {
	c := make(chan bool, 1)
	even(10, c)
	<-c
}

var rounds int

func more() bool {
	rounds++
	return rounds < 4
}
func TestPackageVariable(t *testing.T) {
	jobs, done := make(chan int), make(chan struct{})
	go func() {
		for {
			select {
			case <-jobs:
			case <-done:
				return
			}
		}
	}()
	for more() {
		jobs <- 1
	}
	close(done)
}
