package together

import (
	"net"
	"testing"
	"time"
)

// The helper does not close what it uses.
func use(t *testing.T, counter *Counter) {
	counter.In <- 2
	if counter.Total() != 2 {
		t.Error("wrong total")
	}
}

func TestAdder(t *testing.T) { use(t, NewAdder()) }

func TestMultiplier(t *testing.T) { use(t, NewMultiplier()) }

// Who comes late gets nothing, in either test.
func TestLate(t *testing.T) {
	values := make(chan int)
	go Offer(values, 1)
	time.Sleep(20 * time.Millisecond)
	<-values
}

func TestTooLate(t *testing.T) {
	values := make(chan int)
	go Offer(values, 2)
	time.Sleep(30 * time.Millisecond)
	if value := <-values; value != 2 {
		t.Error("wrong value")
	}
}

// All of its subtests leave the other end of a pipe.
func TestPipes(t *testing.T) {
	t.Run("read", func(t *testing.T) {
		_, other := net.Pipe()
		go func() {
			var bytes [8]byte
			other.Read(bytes[:])
		}()
	})
	t.Run("read again", func(t *testing.T) {
		_, other := net.Pipe()
		go func() {
			var bytes [16]byte
			other.Read(bytes[:])
		}()
	})
}
