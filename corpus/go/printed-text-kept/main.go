// A writer must not keep the bytes that it is given: the next text is printed into the same memory.
//
// verdict: unknown
// model: deadlock
package main

import "fmt"

type history struct{ texts [][]byte }

func (h *history) Write(text []byte) (int, error) {
	h.texts = append(h.texts, text)
	return len(text), nil
}

func main() {
	var h history
	fmt.Fprint(&h, "a")
	fmt.Fprint(&h, "b")
	if string(h.texts[0]) != "a" {
		<-make(chan int)
	}
}
