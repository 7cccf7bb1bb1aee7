// Package client uses the cache, and does not close it either.
package client

import (
	"testing"

	"example.com/classes/cache"
)

func TestClient(t *testing.T) { cache.New().Get("b") }
