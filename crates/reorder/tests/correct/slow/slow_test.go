// Package slow holds a test that takes longer than the limit that tests have at first.
package slow

import (
	"os/exec"
	"testing"
)

func TestSlow(t *testing.T) {
	done := make(chan error)
	go func() { done <- exec.Command("sleep", "12").Run() }()
	if err := <-done; err != nil {
		t.Skip(err)
	}
}
