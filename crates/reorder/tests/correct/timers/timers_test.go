// Package timers holds correct tests with tickers that are not read for a while. Their channels are
// those of Go 1.22, into which the scheduler itself sends without blocking.

//go:debug asynctimerchan=1
package timers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

func TestUnreadTicker(t *testing.T) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	var group sync.WaitGroup
	for range 3 {
		group.Add(1)
		go func() {
			defer group.Done()
			time.Sleep(8 * time.Millisecond)
			select {
			case <-ticker.C:
			case <-time.After(time.Second):
			}
		}()
	}
	group.Wait()
}

func TestHandlerWithTicker(t *testing.T) {
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		time.Sleep(3 * time.Millisecond)
		select {
		case <-ticker.C:
		case <-request.Context().Done():
		}
	}))
	defer server.Close()
	for range 2 {
		if response, err := server.Client().Get(server.URL); err == nil {
			response.Body.Close()
		}
	}
}

func TestDeadlines(t *testing.T) {
	for range 4 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		timer := time.AfterFunc(time.Millisecond, cancel)
		<-ctx.Done()
		timer.Stop()
		cancel()
	}
}
