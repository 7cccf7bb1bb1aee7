// Three philosophers who hold on to the first fork.
//
// verdict: deadlock
// no-deadlock: false
package main

func philosopher(left, right chan struct{}) {
	for {
		<-left
		<-right
		right <- struct{}{}
		left <- struct{}{}
	}
}

func main() {
	forks := make([]chan struct{}, 3)
	for i := range forks {
		forks[i] = make(chan struct{}, 1)
		forks[i] <- struct{}{}
	}
	for i := 0; i < 2; i++ {
		go philosopher(forks[i], forks[i+1])
	}
	philosopher(forks[2], forks[0])
}
