// Package locks holds deadlocks around locks.
package locks

import (
	"sync"
	"testing"
)

func TestOppositeOrder(t *testing.T) {
	var a, b sync.Mutex
	var group sync.WaitGroup
	group.Add(2)
	go func() {
		defer group.Done()
		a.Lock()
		b.Lock()
		b.Unlock()
		a.Unlock()
	}()
	go func() {
		defer group.Done()
		b.Lock()
		a.Lock()
		a.Unlock()
		b.Unlock()
	}()
	group.Wait()
}

type table struct {
	lock sync.RWMutex
	rows int
}

func (t *table) count() int {
	t.lock.RLock()
	defer t.lock.RUnlock()
	return t.rows
}

func (t *table) report() int {
	t.lock.RLock()
	defer t.lock.RUnlock()
	return t.count()
}

func (t *table) add() {
	t.lock.Lock()
	t.rows++
	t.lock.Unlock()
}

func TestReadLockTwice(t *testing.T) {
	rows := new(table)
	done := make(chan bool)
	go func() {
		rows.report()
		done <- true
	}()
	rows.add()
	<-done
}

func TestOnce(t *testing.T) {
	var once sync.Once
	var group sync.WaitGroup
	group.Add(2)
	never := make(chan int)
	for range 2 {
		go func() {
			defer group.Done()
			once.Do(func() { <-never })
		}()
	}
	group.Wait()
}
