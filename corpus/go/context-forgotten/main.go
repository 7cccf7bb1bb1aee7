// Nobody cancels: the worker stays.
//
// verdict: leak
package main

import "context"

func watch(ctx context.Context, out chan<- int) {
	go func() {
		<-ctx.Done()
		close(out)
	}()
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	_ = cancel
	out := make(chan int)
	watch(ctx, out)
}
