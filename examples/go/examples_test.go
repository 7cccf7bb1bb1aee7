package examples

import (
	"sync"
	"testing"
	"time"
)

func TestLookup(t *testing.T) {
	service := &Discovery{Fetch: func() (Entries, error) { return Entries{"a", "b"}, nil }}
	found, err := Lookup(service, time.Second)
	if err == nil && len(found) != 2 {
		t.Error("entries are missing")
	}
}

func TestAllocator(t *testing.T) {
	if got := NewAllocator().Update("node"); got != "node" {
		t.Error(got)
	}
}

func TestBroadcaster(t *testing.T) {
	b := NewBroadcaster()
	b.Send("hello")
}

func TestSession(t *testing.T) {
	s := NewSession()
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.Close()
		}()
	}
	<-s.Done()
	wg.Wait()
}

func TestTransfer(t *testing.T) {
	var a, b Account
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		Transfer(&a, &b, 1)
	}()
	go func() {
		defer wg.Done()
		Transfer(&b, &a, 1)
	}()
	wg.Wait()
}

func TestSum(t *testing.T) {
	for _, workers := range []int{1, 3} {
		if got := Sum([]int{1, 2, 3, 4}, workers); got != 10 {
			t.Error(got)
		}
	}
}
