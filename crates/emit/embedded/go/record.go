package main

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// A run of one program: its processes, and what each of them saw.
type run struct {
	group     sync.WaitGroup
	mutex     sync.Mutex
	processes []*process
}

// A process. It alone writes what it sees.
type process struct {
	run      *run
	name     string
	children int
	seen     []byte
	at       int32 // where it stands, for who looks after a hang
	hasEnded int32
}

func (r *run) process(name string) *process {
	p := &process{run: r, name: name}
	r.group.Add(1)
	r.mutex.Lock()
	r.processes = append(r.processes, p)
	r.mutex.Unlock()
	return p
}

// child makes the next process that p spawns.
//
//go:noinline
func (p *process) child() *process {
	p.children++
	return p.run.process(p.name + "." + strconv.Itoa(p.children))
}

// Go runs a process that p spawns.
func (p *process) Go(body func(p *process)) {
	child := p.child()
	go func() {
		defer child.end()
		body(child)
	}()
}

// end says that p has finished.
func (p *process) end() {
	atomic.StoreInt32(&p.hasEnded, 1)
	p.run.group.Done()
}

// The compiler would copy these short functions to every place where something is seen, and a
// batch of programs would take twice as long to compile.

//go:noinline
func (p *process) saw(event string) {
	if len(p.seen) > 0 {
		p.seen = append(p.seen, ',')
	}
	p.seen = append(p.seen, event...)
}

//go:noinline
func (p *process) got(value interface{}) { p.saw("r" + show(value)) }

//go:noinline
func (p *process) observed(value interface{}) { p.saw("o" + show(value)) }

//go:noinline
func (p *process) chose(number int) { p.saw("#" + strconv.Itoa(number)) }

func (p *process) defaulted() { p.saw("d") }
func (p *process) timedOut()  { p.saw("t") }

//go:noinline
func (p *process) gotOrClosed(value interface{}, ok bool) {
	if ok {
		p.got(value)
	} else {
		p.saw("x")
	}
}

func show(value interface{}) string {
	switch value := value.(type) {
	case struct{}:
		return "u"
	case bool:
		return strconv.FormatBool(value)[:1]
	case int64:
		return strconv.FormatInt(value, 10)
	}
	if reflect.ValueOf(value).IsNil() {
		return "n"
	}
	return "c"
}

// record is what all processes saw, on one line.
func (r *run) record() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	words := []string{}
	finished := "finished"
	for _, p := range r.processes {
		if atomic.LoadInt32(&p.hasEnded) == 0 {
			finished = "unfinished"
		}
		if len(p.seen) > 0 {
			words = append(words, p.name+"="+string(p.seen))
		}
	}
	sort.Strings(words)
	return strings.Join(append([]string{finished}, words...), " ")
}

// stuck is where the processes stand that have not finished.
func (r *run) stuck() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	text := ""
	for _, p := range r.processes {
		if atomic.LoadInt32(&p.hasEnded) == 0 {
			text += fmt.Sprintf(" %s@%d", p.name, atomic.LoadInt32(&p.at))
		}
	}
	return text
}
