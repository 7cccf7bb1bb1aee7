// Command extract reads Go packages and writes programs of Strait's language.
package main

import "fmt"

func main() {
	fmt.Println(`{"entries":[],"warnings":[]}`)
}
