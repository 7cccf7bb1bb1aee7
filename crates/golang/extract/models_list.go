package main

import (
	"strings"

	"golang.org/x/tools/go/ssa"
)

// modelledPackages are those whose functions this program performs itself.
var modelledPackages = map[string]bool{
	"context": true, "os/signal": true, "sync": true, "sync/atomic": true, "testing": true,
	"testing/synctest": true, errgroupPackage: true, semaphorePackage: true,
}

// isModelled tells functions that do more than compute, and that this program performs itself.
func isModelled(fn *ssa.Function) bool {
	if fn.Pkg == nil {
		return false
	}
	path := fn.Pkg.Pkg.Path()
	switch path {
	case "time":
		switch fn.Name() {
		case "After", "AfterFunc", "NewTicker", "NewTimer", "Reset", "Stop", "Tick":
			return true
		}
	case "iter":
		// The other functions are read.
		return len(fn.Blocks) == 0
	case "os":
		return fn.Name() == "Exit"
	case "log":
		return strings.HasPrefix(fn.Name(), "Fatal") || strings.HasPrefix(fn.Name(), "Panic")
	case "runtime":
		switch fn.Name() {
		case "GOMAXPROCS", "Goexit", "NumCPU":
			return true
		}
	}
	return modelledPackages[path]
}
