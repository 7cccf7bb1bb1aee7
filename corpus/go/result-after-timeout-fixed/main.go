// With a buffer of one the worker can always leave.
//
// verdict: terminates
package main

import (
	"context"
	"time"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	result := make(chan int, 1)
	go func() {
		time.Sleep(time.Second)
		result <- 42
	}()
	select {
	case <-result:
	case <-ctx.Done():
	}
}
