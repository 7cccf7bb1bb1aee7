// In a bubble, `synctest.Wait` goes on when all other goroutines of the bubble are blocked. This order
// is not followed, so what happens too early in the model is no violation.
//
// verdict: TestWait unknown
// model: TestWait panic
// assumes: in which order time passes in this bubble is not followed
package bubble

import (
	"testing"
	"testing/synctest"
)

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		go func() { n = 1 }()
		synctest.Wait()
		if n != 1 {
			<-make(chan int)
		}
	})
}
