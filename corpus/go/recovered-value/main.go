// recover returns the value of the panic, so the handler knows the sentinel and closes the channel.
//
// verdict: terminates
package main

import "errors"

var errStop = errors.New("stop")

func run(stopped chan<- bool, task func()) {
	defer func() {
		if r := recover(); r == errStop {
			close(stopped)
		} else if r != nil {
			panic(r)
		}
	}()
	task()
}

func main() {
	stopped := make(chan bool)
	go run(stopped, func() { panic(errStop) })
	<-stopped
}
