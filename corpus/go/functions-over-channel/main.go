// A worker performs functions that are sent to it.
//
// verdict: terminates
package main

func main() {
	tasks := make(chan func())
	done := make(chan struct{})
	go func() {
		for task := range tasks {
			task()
		}
		close(done)
	}()
	answer := make(chan int, 1)
	tasks <- func() { answer <- 1 }
	<-answer
	close(tasks)
	<-done
}
