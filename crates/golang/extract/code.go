package main

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// Code is what remains of a Go function after everything that is known has been performed: the
// operations that other goroutines can notice, and the choices that depend on what is not known.
type Code struct {
	op   string
	pos  token.Pos
	name string  // the variable that an operation is about, or binds
	ok   string  // the second variable a get binds
	on   *Expr   // the channel, lock, condition
	expr *Expr   // what is sent, assigned, added
	test *Expr   // of a swap: whether it happens
	last *Expr   // of a swap: what is stored if it does not happen; the old value if there is none
	n    int64   // capacity
	note string  // why a panic happens, the kind of a lock
	arms []*Code // of choose, if and select: each arm starts with its own code
	next *Code
	// done by a goroutine that the initialisation of a package has started
	daemon bool
	// of choose: is it one because the extraction does not follow the data?
	lossy bool
	// of an operation on an entry of a shared map: is the map held already?
	held bool
	// a panic of this operation may be recovered
	recovered bool
	// of goto, spawn and call
	node  *Node
	subst map[string]*Expr
	// of spawn: the function that the goroutine runs, for its name
	runs *ssa.Function
}

// Operations of Code.
const (
	opChan    = "chan"    // name, n
	opLockNew = "newlock" // name, note
	opAssign  = "assign"  // name, expr
	opPut     = "put"
	opGet     = "get"
	opClose   = "close"
	opSelect  = "select" // arms: opPut, opGet, opTimeout, opDefault
	opTimeout = "timeout"
	opDefault = "default"
	opSpawn   = "spawn"
	opCall    = "call"
	opIf      = "if" // arms: then, else
	opChoose  = "choose"
	opSync    = "sync" // note: lock, unlock, rlock, runlock, done, wait
	opAdd     = "add"
	opPanic   = "panic"
	opEnd     = "end"
	opGoto    = "goto"
	opSkip    = "skip"
	// Devices: what has no counterpart in Go source.
	opCellNew     = "cellnew"     // name, expr
	opCellRead    = "cellread"    // name bound, on
	opCellWrite   = "cellwrite"   // on, expr
	opCellUpdate  = "cellupdate"  // name bound to the old value, on, expr in terms of name
	opCellSwap    = "cellswap"    // name bound to the old value, on, test, expr, last
	opEntryNew    = "entrynew"    // name: an empty cell
	opEntryFill   = "entryfill"   // on, expr
	opEntryPut    = "entryput"    // on, expr, test: the guard
	opEntryDelete = "entrydelete" // on, test: the guard
	opCloseOnce   = "closeonce"   // on: the channel, expr: the cell that says whether it is closed
	opSignal      = "signal"      // on: the channel of a Cond, expr: its cell of waiters
	opBroadcast   = "broadcast"
	opWaiting     = "waiting" // on: the cell of waiters: one more
)

// Node is a state of a goroutine that can be reached in more than one way: a function of the
// program.
type Node struct {
	id       int
	name     string
	pos      token.Pos
	state    *State
	place    string
	code     *Code
	prefix   *Code // what happens before, once
	params   []string
	returns  bool // a function that is really called, not only gone to
	widened  bool
	uses     int
	emitName string
}

// last is the end of a straight line of code.
func last(c *Code) *Code {
	for c.next != nil {
		c = c.next
	}
	return c
}

// isDevice tells operations that are no operations of the Go program.
func isDevice(op string) bool {
	switch op {
	case opCellNew, opCellRead, opCellWrite, opCellUpdate, opCellSwap, opEntryNew, opEntryFill, opEntryPut, opEntryDelete, opCloseOnce, opSignal, opBroadcast, opWaiting:
		return true
	}
	return false
}
