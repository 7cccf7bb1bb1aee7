// A pipeline of stages behind an interface.
//
// verdict: terminates
package main

type stage interface {
	run(in <-chan int) <-chan int
}

type double struct{}

type offset struct{ by int }

func (double) run(in <-chan int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for n := range in {
			out <- 2 * n
		}
	}()
	return out
}

func (o offset) run(in <-chan int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for n := range in {
			out <- n + o.by
		}
	}()
	return out
}

func main() {
	src := make(chan int)
	go func() {
		for i := 0; i < 3; i++ {
			src <- i
		}
		close(src)
	}()
	var c <-chan int = src
	for _, s := range []stage{double{}, offset{1}, double{}} {
		c = s.run(c)
	}
	for n := range c {
		println(n)
	}
}
