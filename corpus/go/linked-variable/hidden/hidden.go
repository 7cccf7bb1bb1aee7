// Package hidden has a variable that another package links with its own.
package hidden

var counter int

// Count counts.
func Count() { counter++ }
