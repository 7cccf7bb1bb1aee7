// Methods of locks and wait groups are called as values, through interfaces and from embedded
// fields. The place of such an operation is where the source calls it.
//
// verdict: TestMethodValue deadlock
// verdict: TestMethodExpression deadlock
// verdict: TestEmbedded deadlock
// verdict: TestEmbeddedValue deadlock
// verdict: TestInterface deadlock
// verdict: TestInterfaceValue deadlock
// verdict: TestWaiter deadlock
// verdict: TestTable deadlock
// verdict: TestFine terminates
package locks

import (
	"sync"
	"testing"
)

type embedded struct{ sync.Mutex }

type waiter interface{ Wait() }

var table = map[string]func(*sync.Mutex){"lock": (*sync.Mutex).Lock, "unlock": (*sync.Mutex).Unlock}

func twice(f func()) {
	f()
	f()
}

func lockTwice(l sync.Locker) {
	l.Lock()
	l.Lock()
}

func TestMethodValue(t *testing.T) {
	var mu sync.Mutex
	twice(mu.Lock)
}

func TestMethodExpression(t *testing.T) {
	var mu sync.Mutex
	lock := (*sync.Mutex).Lock
	lock(&mu)
	lock(&mu)
}

func TestEmbedded(t *testing.T) {
	lockTwice(&embedded{})
}

func TestEmbeddedValue(t *testing.T) {
	var e embedded
	twice(e.Lock)
}

func TestInterface(t *testing.T) {
	lockTwice(&sync.Mutex{})
}

func TestInterfaceValue(t *testing.T) {
	var l sync.Locker = &sync.Mutex{}
	twice(l.Lock)
}

func TestWaiter(t *testing.T) {
	group := &sync.WaitGroup{}
	group.Add(1)
	var w waiter = group
	w.Wait()
}

func TestTable(t *testing.T) {
	var mu sync.Mutex
	table["lock"](&mu)
	table["lock"](&mu)
}

func TestFine(t *testing.T) {
	var e embedded
	for range 2 {
		twice(func() {
			e.Lock()
			defer e.Unlock()
		})
		table["lock"](&e.Mutex)
		table["unlock"](&e.Mutex)
	}
}
