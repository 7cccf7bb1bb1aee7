// A generic type around a channel.
//
// verdict: terminates
package main

type queue[T any] struct {
	items chan T
}

func newQueue[T any](size int) *queue[T] {
	return &queue[T]{items: make(chan T, size)}
}

func (q *queue[T]) push(item T) { q.items <- item }

func (q *queue[T]) drain() []T {
	close(q.items)
	var all []T
	for item := range q.items {
		all = append(all, item)
	}
	return all
}

func main() {
	q := newQueue[string](2)
	done := make(chan bool)
	go func() {
		q.push("a")
		q.push("b")
		done <- true
	}()
	<-done
	q.drain()
}
