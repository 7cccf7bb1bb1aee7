// The methods of a handler are called by net/http, which is not read: what they do is left out, so
// nothing is claimed to hold.
//
// verdict: unknown
// model: terminates
// assumes: is not read
// assumes: a function or method is handed to
package main

import (
	"net/http"
	"net/http/httptest"
	"sync"
)

type counter struct{ mu sync.Mutex }

func (c *counter) ServeHTTP(http.ResponseWriter, *http.Request) {
	c.mu.Lock()
}

func main() {
	c := &counter{}
	mux := http.NewServeMux()
	mux.Handle("/", c)
	for range 2 {
		mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}
}
