package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// What a run or a batch of runs of one program saw: how often, and in which run first.
type tally struct {
	count int64
	first int64
}

// Reports go out by one writer, a line each.
type desk struct {
	mutex sync.Mutex
	out   *bufio.Writer
}

func newDesk() *desk {
	return &desk{out: bufio.NewWriterSize(os.Stdout, 1<<16)}
}

func (d *desk) say(format string, values ...interface{}) {
	d.mutex.Lock()
	fmt.Fprintf(d.out, format+"\n", values...)
	d.mutex.Unlock()
}

func (d *desk) flush() {
	d.mutex.Lock()
	d.out.Flush()
	d.mutex.Unlock()
}

// A job under way, as the one who watches over it sees it.
type watch struct {
	desk     *desk
	mutex    sync.Mutex
	active   bool
	id       uint64
	patience time.Duration
	begun    time.Time
	runs     int64 // those that have ended, of this job
	moves    int64 // grows with everything that happens
	total    int64 // runs of all jobs
	current  []*run
	first    int64 // the number of the first of the current runs
}

func (w *watch) begin(id uint64, patience time.Duration) {
	w.desk.say("begin %d", id)
	w.desk.flush()
	w.mutex.Lock()
	w.active, w.id, w.patience, w.begun, w.runs = true, id, patience, time.Now(), 0
	w.mutex.Unlock()
	w.moved()
}

func (w *watch) moved() { atomic.AddInt64(&w.moves, 1) }

// under names the runs that are under way.
func (w *watch) under(runs []*run, first int64) {
	w.mutex.Lock()
	w.current, w.first = runs, first
	w.mutex.Unlock()
}

// ended counts runs that are over.
func (w *watch) ended(count int64) {
	w.mutex.Lock()
	w.runs += count
	w.total += count
	w.current = nil
	w.mutex.Unlock()
	w.moved()
}

// finish reports what a job saw, in the order of the first runs.
func (w *watch) finish(seen map[string]*tally, order []string, how string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.active = false
	w.conclude(seen, order, how)
}

func (w *watch) conclude(seen map[string]*tally, order []string, how string) {
	for _, record := range order {
		w.desk.say("seen %d %d %d %s", w.id, seen[record].count, seen[record].first, record)
	}
	w.desk.say("end %d %d %d %s", w.id, w.runs, time.Since(w.begun).Nanoseconds()/1000, how)
	w.desk.flush()
}

// look sees to it that a hang is noticed: nothing has moved for as long as the patience lasts.
// Then all goroutines are written to stderr and the process ends, since nobody can end them.
func (w *watch) look() {
	moves, since := int64(-1), time.Now()
	beat := time.Now()
	for {
		time.Sleep(10 * time.Millisecond)
		w.mutex.Lock()
		now := atomic.LoadInt64(&w.moves)
		if !w.active || now != moves {
			moves, since = now, time.Now()
		}
		if w.active && time.Since(beat) > 250*time.Millisecond {
			beat = time.Now()
			w.desk.say("beat %d %d %d", w.id, w.total, now)
			w.desk.flush()
		}
		if w.active && time.Since(since) > w.patience {
			w.hung()
		}
		w.mutex.Unlock()
	}
}

func (w *watch) hung() {
	for number, r := range w.current {
		if stuck := r.stuck(); stuck != "" {
			dump := make([]byte, 1<<20)
			os.Stderr.Write(dump[:runtime.Stack(dump, true)])
			w.conclude(nil, nil, fmt.Sprintf("hung %d%s : %s", w.first+int64(number), stuck, r.record()))
			os.Exit(0)
		}
	}
}

func count(seen map[string]*tally, order []string, record string, number int64) []string {
	if known := seen[record]; known != nil {
		known.count++
		return order
	}
	seen[record] = &tally{1, number}
	return append(order, record)
}
