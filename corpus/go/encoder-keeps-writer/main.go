// An encoder writes to the buffer that it was given before.
//
// verdict: unknown
// model: terminates
// assumes: json.NewEncoder
package main

import (
	"bytes"
	"encoding/json"
)

func main() {
	var buffer bytes.Buffer
	json.NewEncoder(&buffer).Encode(1)
	if buffer.Len() > 0 {
		<-make(chan int)
	}
}
