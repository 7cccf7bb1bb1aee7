package cache

import "testing"

func TestNeverClosed(t *testing.T) { New().Get("a") }

func TestClosed(t *testing.T) {
	c := New()
	c.Get("a")
	c.Close()
}
