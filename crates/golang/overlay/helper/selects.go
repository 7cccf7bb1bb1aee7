// What the selects of a file look like in the source: the runtime numbers their cases otherwise.

package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
)

// statement is a select. Its cases stand in the order of the source.
type statement struct {
	File  string   `json:"file"`
	Line  int      `json:"line"`
	Cases []clause `json:"cases"`
}

type clause struct {
	Kind string `json:"kind"` // send, receive or default
	Line int    `json:"line"`
	Text string `json:"text"`
}

// selects writes the selects of all files that can be parsed.
func selects(paths []string, out io.Writer) error {
	encoder := json.NewEncoder(out)
	for _, path := range paths {
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if tree == nil || err != nil {
			continue
		}
		var failure error
		ast.Inspect(tree, func(node ast.Node) bool {
			if found, ok := node.(*ast.SelectStmt); ok && failure == nil {
				failure = encoder.Encode(describe(files, path, found))
			}
			return true
		})
		if failure != nil {
			return failure
		}
	}
	return nil
}

func describe(files *token.FileSet, path string, found *ast.SelectStmt) statement {
	result := statement{File: path, Line: files.Position(found.Pos()).Line}
	for _, one := range found.Body.List {
		communication := one.(*ast.CommClause)
		position := files.Position(communication.Pos())
		next := clause{Kind: "receive", Line: position.Line, Text: "default"}
		switch communication.Comm.(type) {
		case nil:
			next.Kind = "default"
		case *ast.SendStmt:
			next.Kind = "send"
		}
		if communication.Comm != nil {
			var text bytes.Buffer
			if printer.Fprint(&text, files, communication.Comm) == nil {
				next.Text = text.String()
			}
		}
		result.Cases = append(result.Cases, next)
	}
	return result
}
