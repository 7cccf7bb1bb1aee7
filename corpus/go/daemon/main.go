// A goroutine that package initialisation starts serves until the end: that it then waits is no
// fault.
//
// verdict: terminates
// model: leak
package main

var jobs = make(chan func())

func init() {
	go func() {
		for f := range jobs {
			f()
		}
	}()
}

func main() {
	done := make(chan bool)
	jobs <- func() { close(done) }
	<-done
}
