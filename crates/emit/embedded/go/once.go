package main

import "fmt"

// main runs the program once and prints what its processes saw.
func main() {
	r := &run{}
	p := r.process("main")
	program(p)
	p.end()
	r.group.Wait()
	fmt.Println(r.record())
}
