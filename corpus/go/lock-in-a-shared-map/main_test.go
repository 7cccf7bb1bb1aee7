// A lock for each name, kept in a map under another lock: who unlocks wants the outer lock, which who waits for the inner one holds.
//
// verdict: TestLocks deadlock
package kernels

import (
	"sync"
	"testing"
)

type nameLocks struct {
	sync.RWMutex
	m map[string]*sync.Mutex
}

func (l *nameLocks) lockName(url string) {
	l.Lock()
	if _, ok := l.m[url]; !ok {
		l.m[url] = &sync.Mutex{}
	}
	l.m[url].Lock()
	l.Unlock()
}

func (l *nameLocks) unlockName(url string) {
	l.RLock()
	defer l.RUnlock()
	if um, ok := l.m[url]; ok {
		um.Unlock()
	}
}

var locks = &nameLocks{m: make(map[string]*sync.Mutex)}

func fetch(url string) error {
	locks.lockName(url)
	defer func() { locks.unlockName(url) }()
	return nil
}

func TestLocks(t *testing.T) {
	url := "http://x"
	for _, ignore := range []bool{false, true} {
		var wg sync.WaitGroup
		for i := 0; i < 3; i++ {
			wg.Add(1)
			go func(gor int) {
				defer wg.Done()
				for j := 0; j < 2; j++ {
					fetch(url)
				}
			}(i)
		}
		wg.Wait()
		_ = ignore
	}
}
