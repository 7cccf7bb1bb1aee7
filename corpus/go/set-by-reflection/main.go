// A variable that package reflect sets is not known afterwards.
//
// verdict: unknown
// model: deadlock
package main

import "reflect"

func main() {
	limit := 1
	reflect.ValueOf(&limit).Elem().SetInt(5)
	if limit == 5 {
		<-make(chan int)
	}
}
