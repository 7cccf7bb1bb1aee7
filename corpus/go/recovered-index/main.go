// An index out of range panics while the lock is held. The panic is recovered, the lock is not
// released, and the next call waits for it.
//
// verdict: deadlock
package main

import "sync"

type table struct {
	mu   sync.Mutex
	rows []int
}

func (t *table) row(i int) (row int) {
	defer func() { _ = recover() }()
	t.mu.Lock()
	row = t.rows[i]
	t.mu.Unlock()
	return row
}

func main() {
	t := &table{rows: []int{1, 2, 3}}
	t.row(3)
	t.row(0)
}
