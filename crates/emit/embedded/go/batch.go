package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// main runs every program several times and reports what was seen.
// Arguments: how often, patience in milliseconds, the first program, seed.
func main() {
	numbers := [4]int64{10, 5000, 0, 0}
	for position := range numbers {
		if position+1 < len(os.Args) {
			number, err := strconv.ParseInt(os.Args[position+1], 10, 64)
			if err != nil {
				fmt.Fprintln(os.Stderr, "not a number:", os.Args[position+1])
				os.Exit(2)
			}
			numbers[position] = number
		}
	}
	repetitions, patience := numbers[0], time.Duration(numbers[1])*time.Millisecond
	w := &watch{desk: newDesk()}
	w.desk.say("ready 1")
	go w.look()
	for id := int(numbers[2]); id < len(programs); id++ {
		w.begin(uint64(id), patience)
		seen, order := map[string]*tally{}, []string(nil)
		for number := int64(0); number < repetitions; number++ {
			r := &run{}
			w.under([]*run{r}, number)
			p := r.process("main")
			programs[id](p)
			p.end()
			r.group.Wait()
			order = count(seen, order, r.record(), number)
			w.ended(1)
		}
		w.finish(seen, order, "finished")
	}
}
