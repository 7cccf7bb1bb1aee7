// A range over a string goes by runes: five letters are eight bytes, and the buffer has room
// for five messages.
//
// verdict: terminates
package main

func main() {
	letters := make(chan rune, 5)
	for _, letter := range "žluťý" {
		letters <- letter
	}
	for range len(letters) {
		<-letters
	}
}
