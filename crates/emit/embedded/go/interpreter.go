package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How many runs of a program are under way at once in the style "batched".
const batchSize = 50

// How long a process waits for a second one in the style "barrier", in rounds.
const barrierRounds = 400

// A job: a plan and how to run it.
type job struct {
	plan         *plan
	watch        *watch
	style        string
	perturbation string
	seed         uint64
}

// One run of a plan.
type instance struct {
	run
	job      *job
	number   uint64
	arrivals int32
	channels []chan int64 // by number, for channels that travel over channels
	table    sync.Mutex
}

// SplitMix64 (Steele, Lea, Flood 2014).
type random uint64

func (r *random) bits() uint64 {
	*r += 0x9E3779B97F4A7C15
	bits := uint64(*r)
	bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9
	bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB
	return bits ^ (bits >> 31)
}

func (r *random) below(bound uint32) uint32 {
	return uint32((r.bits() >> 32) * uint64(bound) >> 32)
}

func spin(rounds uint32) {
	for round := uint32(0); round < rounds; round++ {
		atomic.LoadInt32(&spun)
	}
}

var spun int32

// disturb delays a process before an operation.
func (j *job) disturb(r *random) {
	switch j.perturbation {
	case "light":
		switch drawn := r.below(64); {
		case drawn < 6:
			spin(r.below(100))
		case drawn == 6:
			spin(r.below(1000))
		case drawn == 7:
			runtime.Gosched()
		}
	case "heavy":
		switch drawn := r.below(256); {
		case drawn < 64:
			spin(r.below(1000))
		case drawn < 72:
			spin(r.below(20000))
		case drawn < 104:
			runtime.Gosched()
		case drawn == 104:
			time.Sleep(time.Duration(r.below(60)) * time.Microsecond)
		}
	}
}

// lineUp lets two processes begin their next operations at the same moment.
func (i *instance) lineUp() {
	ticket := atomic.AddInt32(&i.arrivals, 1)
	if ticket%2 == 0 {
		return
	}
	for round := 0; round < barrierRounds && atomic.LoadInt32(&i.arrivals) == ticket; round++ {
		if round%100 == 99 {
			runtime.Gosched()
		}
	}
}

func (i *instance) open(capacity int) value {
	channel := make(chan int64, capacity)
	i.table.Lock()
	number := len(i.channels)
	i.channels = append(i.channels, channel)
	i.table.Unlock()
	return value{'c', int64(number), channel}
}

func (v value) wire() int64 {
	if v.kind == 'c' && v.channel == nil {
		return -1
	}
	return v.word
}

func (i *instance) unwire(kind string, word int64) value {
	switch kind {
	case "unit":
		return value{kind: 'u'}
	case "bool":
		return value{kind: 'b', word: word}
	case "int":
		return value{kind: 'i', word: word}
	}
	i.table.Lock()
	defer i.table.Unlock()
	if word < 0 || word >= int64(len(i.channels)) {
		return value{kind: 'c'}
	}
	return value{'c', word, i.channels[word]}
}

func zero(kind string) value {
	return map[string]value{"unit": {kind: 'u'}, "bool": {kind: 'b'}, "int": {kind: 'i'}, "chan": {kind: 'c'}}[kind]
}

func (v value) text() string {
	switch {
	case v.kind == 'u':
		return "u"
	case v.kind == 'b' && v.word != 0:
		return "t"
	case v.kind == 'b':
		return "f"
	case v.kind == 'i':
		return strconv.FormatInt(v.word, 10)
	case v.channel == nil:
		return "n"
	}
	return "c"
}

// One function call of a process.
type frame struct {
	at        int
	variables []value
}

// A process at work.
type actor struct {
	*process
	instance *instance
	frames   []frame
	random   random
}

func (i *instance) actor(p *process, at int, variables []value) *actor {
	seed := random(i.job.seed ^ i.number*0xA24BAED4963EE407)
	for _, letter := range p.name {
		seed = random(seed.bits() ^ uint64(letter))
	}
	return &actor{p, i, []frame{{at, variables}}, seed}
}

func (a *actor) perform() {
	defer a.end()
	defer a.instance.job.watch.moved()
	instructions := a.instance.job.plan.instructions
	for len(a.frames) > 0 {
		f := &a.frames[len(a.frames)-1]
		a.step(f, &instructions[f.at])
	}
}

func (a *actor) step(f *frame, i *instruction) {
	switch i.word {
	case "select":
		atomic.StoreInt32(&a.at, int32(f.at))
		if a.instance.job.style == "barrier" {
			a.instance.lineUp()
		}
		a.instance.job.disturb(&a.random)
		f.at = a.communicate(f, i)
		return
	case "jump":
		f.at = i.at
		return
	case "unless":
		if i.value.evaluate(f.variables).word == 0 {
			f.at = i.at
			return
		}
	case "set":
		f.variables[i.slot] = i.value.evaluate(f.variables)
	case "open":
		f.variables[i.slot] = a.instance.open(i.capacity)
	case "spawn":
		child := a.instance.actor(a.child(), i.at, append([]value(nil), f.variables...))
		go child.perform()
	case "choose":
		f.at = i.places[a.random.below(uint32(len(i.places)))]
		return
	case "see":
		a.saw("o" + i.value.evaluate(f.variables).text())
	case "close":
		close(i.value.evaluate(f.variables).channel)
	case "call":
		called := a.instance.job.plan.functions[i.at]
		variables := make([]value, called.variables)
		for number, argument := range i.arguments {
			variables[called.params[number]] = argument.evaluate(f.variables)
		}
		a.frames = append(a.frames, frame{called.entry, variables})
		return
	case "return":
		result := value{kind: 'u'}
		if i.value != nil {
			result = i.value.evaluate(f.variables)
		}
		a.frames = a.frames[:len(a.frames)-1]
		if len(a.frames) > 0 {
			caller := &a.frames[len(a.frames)-1]
			if slot := a.instance.job.plan.instructions[caller.at].slot; slot >= 0 {
				caller.variables[slot] = result
			}
			caller.at++
		}
		return
	}
	f.at++
}

// communicate performs a put, a get or a select and says where to go on.
func (a *actor) communicate(f *frame, i *instruction) int {
	if len(i.cases) == 1 {
		c := &i.cases[0]
		switch {
		case c.word == "put" && i.at < 0:
			c.channel.evaluate(f.variables).channel <- c.value.evaluate(f.variables).wire()
			return a.sent(i, 0)
		case c.word == "put":
			select {
			case c.channel.evaluate(f.variables).channel <- c.value.evaluate(f.variables).wire():
				return a.sent(i, 0)
			default:
				a.saw("d")
				return i.at
			}
		case c.word == "get" && i.at < 0:
			word, ok := <-c.channel.evaluate(f.variables).channel
			return a.received(f, i, 0, word, ok)
		case c.word == "get":
			select {
			case word, ok := <-c.channel.evaluate(f.variables).channel:
				return a.received(f, i, 0, word, ok)
			default:
				a.saw("d")
				return i.at
			}
		}
	}
	if len(i.cases) == 2 && i.at < 0 && i.cases[0].word != "timeout" && i.cases[1].word != "timeout" {
		return a.chooseOfTwo(f, i)
	}
	return a.chooseOfMany(f, i)
}

// chooseOfTwo is the select that programs have most, as the compiler makes it.
func (a *actor) chooseOfTwo(f *frame, i *instruction) int {
	one, two := &i.cases[0], &i.cases[1]
	first, second := one.channel.evaluate(f.variables).channel, two.channel.evaluate(f.variables).channel
	switch {
	case one.word == "put" && two.word == "put":
		left, right := one.value.evaluate(f.variables).wire(), two.value.evaluate(f.variables).wire()
		select {
		case first <- left:
			return a.sent(i, 0)
		case second <- right:
			return a.sent(i, 1)
		}
	case one.word == "put":
		left := one.value.evaluate(f.variables).wire()
		select {
		case first <- left:
			return a.sent(i, 0)
		case word, ok := <-second:
			return a.received(f, i, 1, word, ok)
		}
	case two.word == "put":
		right := two.value.evaluate(f.variables).wire()
		select {
		case word, ok := <-first:
			return a.received(f, i, 0, word, ok)
		case second <- right:
			return a.sent(i, 1)
		}
	}
	select {
	case word, ok := <-first:
		return a.received(f, i, 0, word, ok)
	case word, ok := <-second:
		return a.received(f, i, 1, word, ok)
	}
}

func (a *actor) chooseOfMany(f *frame, i *instruction) int {
	cases := make([]reflect.SelectCase, 0, len(i.cases)+1)
	for number := range i.cases {
		c := &i.cases[number]
		switch c.word {
		case "put":
			channel, message := c.channel.evaluate(f.variables).channel, c.value.evaluate(f.variables).wire()
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectSend, Chan: reflect.ValueOf(channel), Send: reflect.ValueOf(message)})
		case "get":
			channel := c.channel.evaluate(f.variables).channel
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(channel)})
		default:
			after := time.After(time.Duration(a.random.below(20)) * time.Microsecond)
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(after)})
		}
	}
	if i.at >= 0 {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectDefault})
	}
	chosen, message, ok := reflect.Select(cases)
	switch {
	case chosen == len(i.cases):
		a.saw("d")
		return i.at
	case i.cases[chosen].word == "put":
		return a.sent(i, chosen)
	case i.cases[chosen].word == "timeout":
		a.saw("t")
		return i.cases[chosen].target
	}
	return a.received(f, i, chosen, message.Int(), ok)
}

func (a *actor) sent(i *instruction, number int) int {
	if !i.isSingle {
		a.chose(number)
	}
	return i.cases[number].target
}

func (a *actor) received(f *frame, i *instruction, number int, word int64, ok bool) int {
	c := &i.cases[number]
	if !i.isSingle {
		a.chose(number)
	}
	message := zero(c.kind)
	if ok {
		message = a.instance.unwire(c.kind, word)
		a.saw("r" + message.text())
	} else {
		a.saw("x")
	}
	if c.slot >= 0 {
		f.variables[c.slot] = message
	}
	if c.ok >= 0 {
		f.variables[c.ok] = truth(ok)
	}
	return c.target
}

// start makes a run and its main process.
func (j *job) start(number int64) (*instance, *actor) {
	i := &instance{job: j, number: uint64(number)}
	main := j.plan.functions[j.plan.main]
	return i, i.actor(i.process("main"), main.entry, make([]value, main.variables))
}

// repeat runs the plan so many times and counts what was seen.
func (j *job) repeat(repetitions int64) (map[string]*tally, []string) {
	seen, order := map[string]*tally{}, []string(nil)
	size := int64(1)
	if j.style == "batched" {
		size = batchSize
	}
	for first := int64(0); first < repetitions; first += size {
		runs := []*run{}
		gate := make(chan struct{})
		for number := first; number < first+size && number < repetitions; number++ {
			i, main := j.start(number)
			runs = append(runs, &i.run)
			if size > 1 {
				go func() {
					<-gate
					main.perform()
				}()
			} else {
				j.watch.under(runs, first)
				main.perform()
			}
		}
		if size > 1 {
			j.watch.under(runs, first)
		}
		close(gate)
		for position, r := range runs {
			r.group.Wait()
			order = count(seen, order, r.record(), first+int64(position))
		}
		j.watch.ended(int64(len(runs)))
	}
	return seen, order
}

// main serves jobs: a line `job ID TARGET FLAVOUR STYLE PAYLOAD PERTURBATION SEED REPETITIONS
// PATIENCE LINES`, then the lines of the plan.
func main() {
	w := &watch{desk: newDesk()}
	w.desk.say("ready 1")
	w.desk.flush()
	go w.look()
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadString('\n')
		words := strings.Fields(line)
		if err != nil || (len(words) == 1 && words[0] == "quit") {
			return
		}
		if len(words) != 11 || words[0] != "job" {
			fmt.Fprintln(os.Stderr, "a line is not a job:", line)
			os.Exit(2)
		}
		numbers := [4]uint64{}
		for position := range numbers {
			if numbers[position], err = strconv.ParseUint(words[7+position], 10, 64); err != nil {
				fmt.Fprintln(os.Stderr, "a number of a job is wrong:", line)
				os.Exit(2)
			}
		}
		id, err := strconv.ParseUint(words[1], 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "a job has no number:", line)
			os.Exit(2)
		}
		lines := []string{}
		for count := uint64(0); count < numbers[3]; count++ {
			text, err := in.ReadString('\n')
			if err != nil {
				return
			}
			lines = append(lines, text)
		}
		w.begin(id, time.Duration(numbers[2])*time.Millisecond)
		plan, err := readPlan(lines)
		if err != nil {
			w.finish(nil, nil, "astray "+err.Error())
			continue
		}
		j := &job{plan, w, words[4], words[6], numbers[0]}
		seen, order := j.repeat(int64(numbers[1]))
		w.finish(seen, order, "finished")
	}
}
