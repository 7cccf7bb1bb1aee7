package main

import (
	"fmt"
	"strings"
	"testing"
)

// Rows: a program, and the Go names of what it declares, by the order of the program's names.
var named = []struct{ name, source, want string }{
	{"variables", `import "sync"
var global sync.Mutex
func main() { done := make(chan int, 1); var wg sync.WaitGroup; global.Lock(); done <- 1; wg.Wait() }`,
		"done_=done global_1=global main=main wg=wg"},
	{"fields", `import "sync"
type server struct { mu sync.Mutex; jobs chan int; slots [2]sync.Mutex }
func (s *server) loop() { s.mu.Lock(); <-s.jobs; s.slots[1].Lock() }
func main() { s := &server{jobs: make(chan int)}; go s.loop(); s.jobs <- 1 }`,
		"jobs=server.jobs loop_=(*server).loop main=main server_mu=server.mu server_slots_1=server.slots[1]"},
	{"closures", `func main() {
	c := make(chan int)
	go func() { go func() { c <- 1 }() ; <-c }()
	go func() { c <- 2 }()
	<-c
}`, "c=c main=main main1=main.func1 main11=main.func1.1 main2=main.func2"},
	{"lines", `func first() chan int { c := make(chan int); return c }
func main() {
	c := make(chan int)
	d := first()
	go func() { c <- 1 }()
	<-c
	<-d
}`, "c=c:5 c_2=c:3 main=main main1=main.func1"},
	{"callers", `type pool struct{ c chan int }
func newPool() *pool { return &pool{c: make(chan int)} }
func main() {
	a := newPool()
	b := newPool()
	a.c <- 1
	b.c <- 1
}`, "c=pool.c:6 c_2=pool.c:7 main=main"},
	{"rounds", `func send(c chan int) { c <- 1 }
func main() {
	for range 2 {
		c := make(chan int)
		go send(c)
		<-c
	}
}`, "c=c c_v2=c#2 main=main send=send"},
	{"models", `import ("context"; "sync"; "time")
func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready := sync.NewCond(&sync.Mutex{})
	t := time.NewTimer(1)
	select { case <-ctx.Done(): case <-t.C: case <-time.After(2): }
	ready.L.Lock()
	ready.Wait()
}`, "Mutex=Mutex cond_wake=ready done_=ctx.Done() main=main timer=t.C timer_2=time.After"},
}

func TestNames(t *testing.T) {
	sources := map[string]string{}
	for _, row := range named {
		sources[row.name] = row.source
	}
	entries := extracted(t, sources)
	for _, row := range named {
		names := entries[row.name].Names
		var got []string
		for _, key := range sortedKeys(names) {
			got = append(got, fmt.Sprintf("%s=%s", key, names[key]))
		}
		if got := strings.Join(got, " "); got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s\n%s", row.name, got, row.want, entries[row.name].Text)
		}
	}
}
