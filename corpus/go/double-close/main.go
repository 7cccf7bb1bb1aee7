// A channel is closed twice.
//
// verdict: panic
// channel-safe: false
package main

func main() {
	done := make(chan struct{})
	close(done)
	close(done)
}
