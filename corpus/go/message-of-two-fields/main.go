// Both fields of a message decide what its receiver does: only the message with an error and a
// retry is answered.
//
// verdict: terminates
package main

import "errors"

var errBusy = errors.New("busy")

type result struct {
	err   error
	retry bool
}

func main() {
	results, again := make(chan result), make(chan bool)
	go func() {
		results <- result{}
		results <- result{errBusy, true}
		<-again
		results <- result{errBusy, false}
		close(results)
	}()
	for r := range results {
		if r.err == errBusy && r.retry {
			again <- true
		}
	}
}
