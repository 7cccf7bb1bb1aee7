// Runs the programs of a batch and prints what happened, one line per event:
//
//	begin N          program N is started
//	result N [...]   program N ended with these results, as a JSON list of Go literals
//	panic N TEXT     program N panicked
//	leak N           program N ended and left a blocked goroutine behind
//	late N           program N has not ended yet; a result may follow
//	done N           program N is over
//
// A program that ends the process is the one that was begun last.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type entry struct {
	run  func() []string
	runs int
}

const (
	limit = 400 * time.Millisecond
	grace = 2 * time.Second
)

var (
	state  atomic.Uint64
	output sync.Mutex
)

func say(values ...any) {
	output.Lock()
	defer output.Unlock()
	fmt.Println(values...)
}

// yield gives way to other goroutines at random.
func yield() {
	x := state.Add(0x9E3779B97F4A7C15)
	x ^= x >> 30
	x *= 0xBF58476D1CE4E5B9
	x ^= x >> 27
	switch {
	case x%64 == 0:
		time.Sleep(time.Duration(x>>8%20) * time.Microsecond)
	case x%4 == 0:
		runtime.Gosched()
	}
}

type results struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (r *results) add(number int, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.seen[line] {
		r.seen[line] = true
		say(line)
	}
}

func main() {
	from, _ := strconv.Atoi(os.Args[1])
	var late sync.WaitGroup
	for number := from; number < len(programs); number++ {
		if programs[number].run == nil {
			continue
		}
		say("begin", number)
		repeat(number, programs[number], &late)
		say("done", number)
	}
	over := make(chan bool)
	go func() { late.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(grace):
	}
}

func repeat(number int, e entry, late *sync.WaitGroup) {
	seen := &results{seen: map[string]bool{}}
	for round := range e.runs {
		if e.runs > 10 {
			runtime.GOMAXPROCS(1 + round%4)
		}
		before := runtime.NumGoroutine()
		over := make(chan bool)
		late.Add(1)
		go func() {
			defer late.Done()
			defer close(over)
			defer func() {
				if r := recover(); r != nil {
					text, _, _ := strings.Cut(fmt.Sprint(r), "\n")
					seen.add(number, fmt.Sprint("panic ", number, " ", text))
				}
			}()
			text, _ := json.Marshal(e.run())
			seen.add(number, fmt.Sprint("result ", number, " ", string(text)))
		}()
		select {
		case <-over:
		case <-time.After(limit):
			say("late", number)
			return
		}
		if leaks(before) {
			say("leak", number)
			return
		}
	}
}

// leaks waits for goroutines to end.
func leaks(before int) bool {
	for range 150 {
		if runtime.NumGoroutine() <= before {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}
