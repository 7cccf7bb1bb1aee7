package main

import (
	"fmt"
	"strings"
)

// migo writes the nodes as behavioural types in the MiGo format.
func migo(d *Driver, start *Node) string {
	var b strings.Builder
	for _, node := range reachable(start) {
		params := objects(d, node.params)
		name := node.emitName
		if node == start {
			name = "main.main"
		}
		fmt.Fprintf(&b, "def %s(%s):\n", name, strings.Join(params, ", "))
		migoCode(d, start, &b, node.code, 1)
	}
	return b.String()
}

// objects keeps the parameters that MiGo has: channels and locks.
func objects(d *Driver, names []string) []string {
	var out []string
	for _, name := range names {
		if d.isObject(name) {
			out = append(out, name)
		}
	}
	return out
}

func (d *Driver) isObject(name string) bool {
	switch d.kinds[name] {
	case "chan", "mutex", "rwmutex":
		return !strings.HasPrefix(name, "cell_") && !strings.HasPrefix(name, "ended_") && !strings.HasPrefix(name, "waiters_") &&
			!strings.HasPrefix(name, "guard_") && !strings.HasPrefix(name, "entry_")
	}
	return false
}

func migoCode(d *Driver, start *Node, b *strings.Builder, c *Code, depth int) {
	indent := strings.Repeat("    ", depth)
	line := func(format string, args ...any) { fmt.Fprintf(b, indent+format+";\n", args...) }
	for ; c != nil; c = c.next {
		switch c.op {
		case opChan:
			line("let %s = newchan %s, %d", c.name, c.name, c.n)
		case opLockNew:
			if c.note != "waitgroup" {
				line("letsync %s %s", c.name, c.note)
			}
		case opPut, opGet, opClose:
			line("%s", migoOperation(c))
		case opSync:
			switch c.note {
			case "lock", "unlock", "rlock", "runlock":
				line("%s %s", c.note, c.on)
			default:
				line("tau")
			}
		case opSpawn:
			line("spawn %s", migoCall(d, start, c))
		case opCall, opGoto:
			line("call %s", migoCall(d, start, c))
		case opIf, opChoose:
			arms := c.arms
			for i, arm := range arms {
				if i == len(arms)-1 && i > 0 {
					break
				}
				fmt.Fprintf(b, "%sif\n", strings.Repeat("    ", depth+i))
				migoCode(d, start, b, arm, depth+i+1)
				fmt.Fprintf(b, "%selse\n", strings.Repeat("    ", depth+i))
			}
			migoCode(d, start, b, arms[len(arms)-1], depth+len(arms))
			for i := len(arms) - 2; i >= 0; i-- {
				fmt.Fprintf(b, "%sendif;\n", strings.Repeat("    ", depth+i))
			}
		case opSelect:
			fmt.Fprintf(b, "%sselect\n", indent)
			for _, arm := range c.arms {
				fmt.Fprintf(b, "%s  case %s;\n", indent, migoOperation(arm))
				migoCode(d, start, b, arm.next, depth+1)
			}
			fmt.Fprintf(b, "%sendselect;\n", indent)
		case opCloseOnce:
			line("close %s", c.on)
		case opSignal, opBroadcast:
			line("send %s", c.on)
		case opAdd, opPanic, opCellRead, opCellWrite, opCellUpdate, opCellSwap:
			line("tau")
		}
	}
}

func migoOperation(c *Code) string {
	channel := "nil"
	if c.on != nil && c.on.op == "var" {
		channel = c.on.name
	}
	switch c.op {
	case opPut:
		return "send " + channel
	case opGet:
		return "recv " + channel
	case opClose:
		return "close " + channel
	}
	return "tau"
}

func migoCall(d *Driver, start *Node, c *Code) string {
	var args []string
	for _, param := range c.node.params {
		if !d.isObject(param) {
			continue
		}
		arg := param
		if expr, ok := c.subst[param]; ok {
			arg = expr.String()
		}
		args = append(args, arg)
	}
	name := c.node.emitName
	if c.node == start {
		name = "main.main"
	}
	return fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
}
