// Entries are deleted while the map is ranged over: each of the others is visited once.
//
// verdict: terminates
package main

func main() {
	waiting := map[int]chan int{}
	answered := make(chan int)
	for id := range 3 {
		request := make(chan int)
		waiting[id] = request
		go func() { answered <- <-request }()
	}
	for id, request := range waiting {
		delete(waiting, id)
		request <- id
	}
	for range 3 {
		<-answered
	}
	for range waiting {
		<-answered
	}
}
