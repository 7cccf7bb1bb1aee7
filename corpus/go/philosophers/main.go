// Three philosophers whose forks are channels of one place. Who does not get the second fork puts
// the first one back: no deadlock.
//
// verdict: diverges
// no-deadlock: true
package main

func philosopher(left, right chan struct{}) {
	for {
		<-left
		select {
		case <-right:
			right <- struct{}{}
			left <- struct{}{}
		default:
			left <- struct{}{}
		}
	}
}

func main() {
	forks := make([]chan struct{}, 3)
	for i := range forks {
		forks[i] = make(chan struct{}, 1)
		forks[i] <- struct{}{}
	}
	go philosopher(forks[1], forks[2])
	go philosopher(forks[2], forks[0])
	philosopher(forks[0], forks[1])
}
