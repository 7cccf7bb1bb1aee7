package examples

import "sync"

// Account has a balance.
type Account struct {
	mu      sync.Mutex
	balance int
}

// Transfer locks the two accounts in the order of its arguments: two transfers in opposite directions
// may wait for each other.
func Transfer(from, to *Account, amount int) {
	from.mu.Lock()
	defer from.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	from.balance -= amount
	to.balance += amount
}
