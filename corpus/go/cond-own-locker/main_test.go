// A sync.Cond calls the methods of its Locker, which need not be a lock of package sync.
//
// verdict: TestTwoLocks terminates
// verdict: TestLockKept deadlock
// verdict: TestChannelAsLock deadlock
package locker

import (
	"sync"
	"testing"
)

type twoLocks struct{ a, b sync.Mutex }

func (l *twoLocks) Lock()   { l.a.Lock(); l.b.Lock() }
func (l *twoLocks) Unlock() { l.b.Unlock(); l.a.Unlock() }

func TestTwoLocks(t *testing.T) {
	l := &twoLocks{}
	c := sync.NewCond(l)
	ready := false
	go func() { l.Lock(); ready = true; l.Unlock(); c.Broadcast() }()
	l.Lock()
	for !ready {
		c.Wait()
	}
	l.Unlock()
}

func TestLockKept(t *testing.T) {
	l := &twoLocks{}
	c := sync.NewCond(l)
	go func() { l.Lock(); l.a.Unlock(); c.Broadcast() }() // b is kept
	l.Lock()
	c.Wait()
	l.Unlock()
}

// A lock that is a channel, beside a mutex that it does not use.
type channelLock struct {
	sync.Mutex
	held chan struct{}
}

func (l *channelLock) Lock()   { l.held <- struct{}{} }
func (l *channelLock) Unlock() { <-l.held }

func TestChannelAsLock(t *testing.T) {
	l := &channelLock{held: make(chan struct{}, 1)}
	c := sync.NewCond(l)
	go func() { l.Lock(); c.Signal() }() // is never unlocked
	l.Lock()
	c.Wait()
}
