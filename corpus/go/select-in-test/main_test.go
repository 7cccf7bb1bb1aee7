// A test that waits in an empty select never ends. It is no service.
//
// verdict: TestWaits deadlock
// verdict: TestNeverWaits terminates
// verdict: TestSubtest deadlock
package waits

import "testing"

func TestWaits(t *testing.T) {
	select {}
}

func TestNeverWaits(t *testing.T) {
	if t.Name() != "TestNeverWaits" {
		select {}
	}
}

func TestSubtest(t *testing.T) {
	t.Run("a", func(t *testing.T) { select {} })
}
