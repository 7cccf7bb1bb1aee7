// The worker answers after the caller has given up: its send waits forever.
//
// verdict: leak
package main

import (
	"context"
	"errors"
	"time"
)

func compute(ctx context.Context) (int, error) {
	result := make(chan int)
	go func() {
		time.Sleep(time.Second)
		result <- 42
	}()
	select {
	case n := <-result:
		return n, nil
	case <-ctx.Done():
		return 0, errors.New("too late")
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	compute(ctx)
}
