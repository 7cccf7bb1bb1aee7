// The text of a run-time error is the same in every run: that it is another one is no choice that the
// data may allow.
//
// verdict: unknown
// model: deadlock
package main

func text(numbers []int, low int) (text string) {
	defer func() { text = recover().(error).Error() }()
	return string(rune(len(numbers[low:])))
}

func main() {
	if text([]int{1, 2}, 3) != "runtime error: slice bounds out of range [3:2]" {
		<-make(chan int)
	}
}
