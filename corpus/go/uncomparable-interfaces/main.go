// Two interfaces that hold slices cannot be compared, and a slice in an interface is no key of a map:
// both panic. A struct is compared up to the first field that differs.
//
// verdict: terminates
package main

type record struct {
	id   int
	data any
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return
}

func main() {
	var a, b any = []int{1}, []int{1}
	names := map[any]string{}
	failed := panics(func() { _ = a == b }) &&
		panics(func() { names[a] = "a" }) &&
		panics(func() { _ = names[b] }) &&
		panics(func() { delete(names, a) }) &&
		panics(func() { _ = record{1, a} == record{1, b} })
	fine := panics(func() { _ = record{1, a} == record{2, b} }) ||
		panics(func() { _ = a == any(map[int]int{}) })
	if !failed || fine {
		<-make(chan int)
	}
}
