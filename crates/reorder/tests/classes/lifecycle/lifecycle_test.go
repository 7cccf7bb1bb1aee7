// Package lifecycle holds goroutines that are left at the end of a test and could go on.
package lifecycle

import (
	"testing"
	"time"
)

var registry = make(chan int)

func tick(stop chan bool) {
	ticker := time.NewTicker(time.Hour)
	for {
		select {
		case <-ticker.C:
		case <-registry:
		case <-stop:
			return
		}
	}
}

func listen() {
	for range registry {
	}
}

func TestParts(t *testing.T) {
	t.Run("stopped", func(t *testing.T) {
		stop := make(chan bool)
		go tick(stop)
		stop <- true
	})
	t.Run("left", func(t *testing.T) { go listen() })
}

func TestWaitsOnPurpose(t *testing.T) {
	go func() { select {} }()
}

// beat does something now and then, until it is stopped.
func beat(stop chan bool) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
	}
}

// Nothing can stop it any more.
func TestTicker(t *testing.T) {
	go beat(make(chan bool))
}
