// Command gates lists the statements of Go files, so that a gate can be put before each of them. Its arguments
// are the word `list` and files; it prints a JSON array.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
)

// Statement is a statement of a block.
type Statement struct {
	File     string `json:"file"`
	Offset   int    `json:"offset"`
	Line     int    `json:"line"`
	LastLine int    `json:"last_line"`
	// The declared function around it.
	Function string `json:"function"`
	// Does it send, receive, select, start a goroutine or call something that may synchronise?
	Synchronises bool `json:"synchronises"`
}

// Names of methods and functions that synchronise, or whose order with others matters.
var names = map[string]bool{
	"Lock": true, "Unlock": true, "RLock": true, "RUnlock": true, "TryLock": true,
	"Wait": true, "Done": true, "Add": true, "Go": true, "Signal": true, "Broadcast": true,
	"Do": true, "Load": true, "Store": true, "Swap": true, "CompareAndSwap": true,
	"close": true, "Close": true, "Stop": true, "Reset": true, "cancel": true, "Cancel": true,
	"After": true, "AfterFunc": true, "Sleep": true, "Err": true,
}

func main() {
	found := []Statement{}
	for _, path := range os.Args[2:] {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || function.Body == nil || function.Name.Name == "init" {
				continue
			}
			list(files, path, function, &found)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func list(files *token.FileSet, path string, function *ast.FuncDecl, found *[]Statement) {
	add := func(statements []ast.Stmt) {
		for _, statement := range statements {
			// A `//line` comment does not move what is edited.
			start := files.PositionFor(statement.Pos(), false)
			*found = append(*found, Statement{
				File:         path,
				Offset:       start.Offset,
				Line:         start.Line,
				LastLine:     files.PositionFor(last(statement), false).Line,
				Function:     function.Name.Name,
				Synchronises: synchronises(statement),
			})
		}
	}
	ast.Inspect(function.Body, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BlockStmt:
			if !cases(node) {
				add(node.List)
			}
		case *ast.CaseClause:
			add(node.Body)
		case *ast.CommClause:
			add(node.Body)
		}
		return true
	})
}

// The end of a statement, without the blocks in it.
func last(statement ast.Stmt) token.Pos {
	end := statement.End()
	ast.Inspect(statement, func(node ast.Node) bool {
		if block, ok := node.(*ast.BlockStmt); ok && block.Pos() < end {
			end = block.Pos()
			return false
		}
		return true
	})
	return end
}

// Is this the block of a switch or select, which holds clauses and no statements?
func cases(block *ast.BlockStmt) bool {
	for _, statement := range block.List {
		switch statement.(type) {
		case *ast.CaseClause, *ast.CommClause:
			return true
		}
	}
	return false
}

func synchronises(statement ast.Stmt) bool {
	found := false
	ast.Inspect(statement, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BlockStmt:
			_, isSelect := statement.(*ast.SelectStmt)
			return isSelect
		case *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt, *ast.RangeStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || node.Op == token.ARROW
		case *ast.CallExpr:
			switch called := node.Fun.(type) {
			case *ast.Ident:
				found = found || names[called.Name]
			case *ast.SelectorExpr:
				found = found || names[called.Sel.Name]
			}
		}
		return true
	})
	return found
}
