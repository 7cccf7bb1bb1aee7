// Package examples holds small programs with the bugs that `strait go fuzz` is made for, written anew
// after the figures of the paper it implements. All tests pass with plain `go test`, most of the time.
package examples

import (
	"errors"
	"time"
)

// Entries is what a discovery service returns.
type Entries []string

// Discovery asks a service for its entries.
type Discovery struct {
	Fetch func() (Entries, error)
}

// Watch returns a channel with the entries and one with the error, whichever comes. Both are
// unbuffered: when the caller has given up, the goroutine stays forever (figure 1 of the paper).
func (d *Discovery) Watch() (<-chan Entries, <-chan error) {
	entries, failures := make(chan Entries), make(chan error)
	go func() {
		found, err := d.Fetch()
		if err != nil {
			failures <- err
		} else {
			entries <- found
		}
	}()
	return entries, failures
}

// ErrTimeout says that the service took too long.
var ErrTimeout = errors.New("timeout")

// Lookup waits for the entries, but not for long.
func Lookup(d *Discovery, patience time.Duration) (Entries, error) {
	entries, failures := d.Watch()
	select {
	case <-time.After(patience):
		return nil, ErrTimeout
	case found := <-entries:
		return found, nil
	case err := <-failures:
		return nil, err
	}
}
