// What strconv returns is a *strconv.NumError, which errors.As and errors.Is find: both messages are
// sent, and there is room for one.
//
// verdict: deadlock
package main

import (
	"errors"
	"strconv"
)

func main() {
	messages := make(chan string, 1)
	_, err := strconv.Atoi("many")
	var number *strconv.NumError
	if errors.As(err, &number) {
		messages <- number.Func
	}
	if errors.Is(err, strconv.ErrSyntax) {
		messages <- err.Error()
	}
}
