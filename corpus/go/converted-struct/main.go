// A struct is converted to another type of the same fields, by value and by pointer: what was written
// as one type is read as the other.
//
// verdict: deadlock
package main

type settings struct{ size int }

type limits settings

func main() {
	byValue := settings{}
	byValue.size = 1
	byPointer := &settings{}
	byPointer.size = 2
	if limits(byValue).size == 1 && (*limits)(byPointer).size == 2 {
		<-make(chan int)
	}
}
