// Five philosophers, one of whom is left-handed.
//
// verdict: terminates
// no-deadlock: true
package main

import "sync"

type table struct {
	forks [5]sync.Mutex
}

func (t *table) eat(seat int) {
	first, second := seat, (seat+1)%5
	if first > second {
		first, second = second, first
	}
	t.forks[first].Lock()
	defer t.forks[first].Unlock()
	t.forks[second].Lock()
	defer t.forks[second].Unlock()
}

func main() {
	t := &table{}
	var dinner sync.WaitGroup
	for seat := 0; seat < 5; seat++ {
		dinner.Add(1)
		go func() {
			defer dinner.Done()
			t.eat(seat)
		}()
	}
	dinner.Wait()
}
