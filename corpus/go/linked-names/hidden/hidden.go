// Package hidden has a function that another package calls by a name of its own.
package hidden

var counter int

// Count counts.
func Count() { counter++ }

func wait() { <-make(chan int) }

var _ = wait
