// A package that is not read calls a method by an interface of its own.
//
// verdict: unknown
// model: terminates
// assumes: a function or method is handed to `go/ast.Walk`
package main

import (
	"go/ast"
	"sync"
)

type visitor struct{ lock *sync.Mutex }

func (v visitor) Visit(ast.Node) ast.Visitor {
	v.lock.Lock()
	return nil
}

func main() {
	var lock sync.Mutex
	ast.Walk(visitor{&lock}, &ast.Ident{Name: "x"})
	ast.Walk(visitor{&lock}, &ast.Ident{Name: "y"})
}
