// What the hooks ask that each version of Go answers in its own way.

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
)

func compatibility(root string) ([]byte, error) {
	runtime := filepath.Join(root, "src", "runtime")
	parse := func(file string) (*ast.File, error) {
		return parser.ParseFile(token.NewFileSet(), filepath.Join(runtime, file), nil, 0)
	}
	types2, err := parse("runtime2.go")
	if err != nil {
		return nil, err
	}
	collector, err := parse("mgc.go")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprint(&out, "package runtime\n\n")
	channel, err := fieldType(types2, "sudog", "c")
	if err != nil {
		return nil, err
	}
	get := ""
	if channel != "*hchan" {
		get = ".get()"
	}
	fmt.Fprintf(&out, "func straitSudogChan(sg *sudog) *hchan { return sg.c%s }\n", get)
	bubble := "bubble"
	if _, err := fieldType(types2, "g", bubble); err != nil {
		bubble = "syncGroup"
	}
	if _, err := fieldType(types2, "g", bubble); err != nil {
		return nil, err
	}
	fmt.Fprintf(&out, "func straitInBubble(gp *g) bool { return gp.%s != nil }\n", bubble)
	// Goroutines that cgo keeps in reserve have a status of their own since 1.26.
	extra := "_Gdead"
	if types2.Scope.Lookup("_Gdeadextra") != nil {
		extra = "_Gdeadextra"
	}
	fmt.Fprintf(&out, "const straitDeadExtra = %s\n", extra)
	source := source{path: "runtime/mgc.go", tree: collector}
	if _, err := source.function("goroutineLeakGC"); err == nil {
		fmt.Fprint(&out, "const straitCanJudge = true\nconst straitLeaked = _Gleaked\nfunc straitLeakGC() { goroutineLeakGC() }\n")
	} else {
		fmt.Fprint(&out, "const straitCanJudge = false\nconst straitLeaked = 0xffff\nfunc straitLeakGC() {}\n")
	}
	return out.Bytes(), nil
}

func fieldType(tree *ast.File, structName, fieldName string) (string, error) {
	source := source{path: "runtime/runtime2.go"}
	found := structure(tree, structName)
	if found == nil {
		return "", source.missing("struct " + structName)
	}
	for _, one := range found.Fields.List {
		for _, name := range one.Names {
			if name.Name == fieldName {
				return types.ExprString(one.Type), nil
			}
		}
	}
	return "", source.missing("field " + fieldName + " of " + structName)
}
