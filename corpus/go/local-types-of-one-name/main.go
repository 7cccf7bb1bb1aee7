// Functions may declare types of the same name: their values are different keys.
//
// verdict: terminates
package main

import "context"

func first() any {
	type key struct{}
	return key{}
}

func second() any {
	type key struct{}
	return key{}
}

func main() {
	names := map[any]int{first(): 1, second(): 2}
	ctx := context.WithValue(context.Background(), first(), "first")
	if first() == second() || len(names) != 2 || ctx.Value(second()) != nil || ctx.Value(first()) == nil {
		<-make(chan int)
	}
}
