// Package collector holds correct tests that make the runtime work: the garbage collector, memory
// statistics, the number of processors, stacks and profiles, while goroutines of the test communicate.
package collector

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"testing"
)

var kept []byte

// busy runs the function in a few goroutines that also send, receive and lock.
func busy(work func()) {
	var group sync.WaitGroup
	var lock sync.Mutex
	results := make(chan int, 1)
	for range 3 {
		group.Add(1)
		go func() {
			defer group.Done()
			lock.Lock()
			work()
			lock.Unlock()
			results <- 1
		}()
	}
	for range 3 {
		<-results
	}
	group.Wait()
}

func TestReadMemStats(t *testing.T) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	kept = make([]byte, 10<<20)
	busy(func() {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		kept = make([]byte, 10<<20)
	})
}

func TestGC(t *testing.T) {
	busy(func() {
		kept = make([]byte, 1<<20)
		runtime.GC()
	})
}

func TestSetGCPercent(t *testing.T) {
	before := debug.SetGCPercent(20)
	defer debug.SetGCPercent(before)
	busy(func() {
		debug.SetGCPercent(20)
		for range 8 {
			kept = make([]byte, 1<<20)
		}
	})
}

func TestFreeOSMemory(t *testing.T) {
	busy(func() {
		kept = make([]byte, 1<<20)
		debug.FreeOSMemory()
	})
}

func TestGOMAXPROCS(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	count := 0
	busy(func() {
		count++
		runtime.GOMAXPROCS(1 + count%3)
	})
}

func TestStack(t *testing.T) {
	busy(func() {
		runtime.Stack(make([]byte, 64<<10), true)
		_ = debug.Stack()
	})
}

func TestProfiles(t *testing.T) {
	busy(func() {
		var out bytes.Buffer
		for _, name := range []string{"goroutine", "heap", "allocs", "mutex"} {
			if err := pprof.Lookup(name).WriteTo(&out, 0); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestFinalizers(t *testing.T) {
	done := make(chan bool, 3)
	busy(func() {
		object := new([16]int)
		runtime.SetFinalizer(object, func(*[16]int) {
			select {
			case done <- true:
			default:
			}
		})
		object = nil
		runtime.GC()
	})
	<-done
}
