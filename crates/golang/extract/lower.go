package main

import (
	"fmt"
	"go/token"
	"strings"
)

// deepest is how far blocks may nest before the rest becomes a function.
const deepest = 40

var keywords = map[string]bool{}

func init() {
	for _, word := range strings.Fields("fn main unit bool int mutex rwmutex waitgroup chan put get close abandon select default spawn if else while break continue choose or lock unlock rlock runlock done wait add panic return observe timeout nil true false unbounded let for go func loop match case") {
		keywords[word] = true
	}
}

// typeText writes the type of a variable.
func (d *Driver) typeText(name string) string {
	switch kind := d.kinds[name]; kind {
	case "chan":
		return "chan " + d.typeOf(d.keys[name], 0)
	case "":
		return "int"
	default:
		return kind
	}
}

// writer writes the text of a program, one statement a line, with the position of each.
type writer struct {
	d      *Driver
	text   strings.Builder
	lines  []int
	table  map[Position]int
	entry  *Entry
	place  func(token.Pos) Position
	indent int
	used   map[string]bool
	queue  []*Node
	queued map[*Node]bool
	daemon bool // is what is being written done by a daemon?
	// of what is being written: see Position
	imprecise, recovered bool
	start                token.Pos // of the entry
	shown                shownNames
}

// names are what variables are called in the function being written.
type names map[string]*Expr

// lower writes the program of an entry.
func lower(d *Driver, start *Node, e *Entry, place func(token.Pos) Position) {
	w := &writer{d: d, table: map[Position]int{}, entry: e, place: place, queued: map[*Node]bool{}, shown: shownNames{known: map[string]bool{}}}
	for _, node := range reachable(start) {
		node.uses = 0
	}
	start.uses = 2
	for _, node := range reachable(start) {
		walk(node.code, func(c *Code) {
			if c.node != nil {
				c.node.uses++
				if c.op != opGoto {
					c.node.uses++
				}
			}
		})
	}
	taken := map[string]int{}
	for _, node := range reachable(start) {
		base := identifier(node.name)
		if keywords[base] || base == "main" {
			base += "_"
		}
		taken[base]++
		node.emitName = base
		if taken[base] > 1 {
			node.emitName = fmt.Sprintf("%s_%d", base, taken[base])
		}
	}
	w.used = map[string]bool{}
	w.start = start.pos
	w.line(start.pos, "main {")
	w.indent++
	if calledAgain(start) {
		w.line(0, "%s()", start.emitName)
		w.enqueue(start)
	} else {
		w.code(start.code, names{}, 1)
	}
	w.indent--
	w.line(0, "}")
	for len(w.queue) > 0 {
		node := w.queue[0]
		w.queue = w.queue[1:]
		w.function(node)
	}
	w.shown.write(e, place)
	e.Text = w.text.String()
	e.Lines = w.lines
}

// calledAgain tells whether anything leads back to the start.
func calledAgain(start *Node) bool {
	found := false
	for _, node := range reachable(start) {
		walk(node.code, func(c *Code) { found = found || c.node == start })
	}
	return found
}

func (w *writer) enqueue(node *Node) {
	if !w.queued[node] {
		w.queued[node] = true
		w.queue = append(w.queue, node)
	}
}

func (w *writer) function(node *Node) {
	w.used = map[string]bool{}
	env := names{}
	params := make([]string, len(node.params))
	for i, param := range node.params {
		name := w.fresh(param)
		env[param] = variable(name)
		params[i] = name + ": " + w.d.typeText(param)
	}
	w.line(node.pos, "fn %s(%s) {", node.emitName, strings.Join(params, ", "))
	w.indent++
	w.code(node.code, env, 1)
	w.indent--
	w.line(0, "}")
}

func (w *writer) fresh(name string) string {
	name = identifier(name)
	if keywords[name] {
		name += "_"
	}
	candidate := name
	for n := 2; w.used[candidate]; n++ {
		candidate = fmt.Sprintf("%s_v%d", name, n)
	}
	w.used[candidate] = true
	return candidate
}

func (w *writer) line(pos token.Pos, format string, args ...any) {
	fmt.Fprintf(&w.text, "%s%s\n", strings.Repeat("    ", w.indent), fmt.Sprintf(format, args...))
	index := 0
	if pos != token.NoPos {
		p := w.place(pos)
		p.Daemon, p.Imprecise, p.Recovered = w.daemon, w.imprecise, w.recovered
		known, ok := w.table[p]
		if !ok {
			w.entry.Positions = append(w.entry.Positions, p)
			known = len(w.entry.Positions)
			w.table[p] = known
		}
		index = known
	}
	w.lines = append(w.lines, index)
}

func (w *writer) bind(env names, name string) (names, string) {
	copied := make(names, len(env)+1)
	for k, v := range env {
		copied[k] = v
	}
	emitted := w.fresh(name)
	copied[name] = variable(emitted)
	return copied, emitted
}

// operand writes an expression where the language wants a name or parentheses.
func operand(e *Expr, env names) string {
	renamed := e.rename(env)
	written := renamed.String()
	return written
}

func expression(e *Expr, env names) string {
	if e == nil {
		return "()"
	}
	written := e.rename(env).String()
	return written
}

// message writes what is put into a channel. In an entry that was not followed to its end, the
// channel may have turned out to carry more than was known when the put was written.
func (w *writer) message(channel, message *Expr, env names) string {
	written := expression(message, env)
	if written != "()" || channel.op != "var" {
		return written
	}
	return w.d.sample(channel.name)
}

// sample is some message of a channel's type.
func (d *Driver) sample(channel string) string {
	switch kind := d.typeOf(d.keys[channel], 0); kind {
	case "unit":
		return "()"
	case "int":
		return "0"
	case "bool":
		return "false"
	default:
		return "nil"
	}
}

// code writes statements up to the end of a function.
func (w *writer) code(c *Code, env names, depth int) {
	for ; c != nil; c = c.next {
		w.daemon, w.imprecise, w.recovered = c.daemon, c.lossy, c.recovered
		switch c.op {
		case opGoto:
			w.goes(c, env, depth)
			return
		case opEnd:
			w.line(c.pos, "return")
			return
		case opPanic:
			w.line(c.pos, "panic %s", quote(c.note))
			return
		case opIf:
			w.line(c.pos, "if %s {", expression(c.on, env))
			w.block(c.arms[0], env, depth)
			w.line(0, "} else {")
			w.block(c.arms[1], env, depth)
			w.line(0, "}")
			return
		case opChoose:
			pos := c.pos
			if pos == token.NoPos && c.lossy {
				// That it is one because data is not followed must not be lost.
				pos = w.start
			}
			w.line(pos, "choose {")
			for i, arm := range c.arms {
				if i > 0 {
					w.line(0, "} or {")
				}
				w.block(arm, env, depth)
			}
			w.line(0, "}")
			return
		case opSelect:
			w.selects(c, env, depth)
			return
		default:
			env = w.statement(c, env)
		}
	}
}

func (w *writer) block(c *Code, env names, depth int) {
	w.indent++
	w.code(c, env, depth+1)
	w.indent--
}

// goes continues in a node: its code when no other node needs it, else a call.
func (w *writer) goes(c *Code, env names, depth int) {
	node := c.node
	if (node.uses == 1 || node.code.op == opEnd) && depth < deepest {
		inner := names{}
		for _, param := range node.params {
			expr := variable(param)
			if arg, ok := c.subst[param]; ok {
				expr = arg
			}
			inner[param] = expr.rename(env)
		}
		w.code(node.code, inner, depth)
		return
	}
	w.line(0, "%s", w.callText(c, env))
}

func (w *writer) callText(c *Code, env names) string {
	args := make([]string, len(c.node.params))
	for i, param := range c.node.params {
		expr := variable(param)
		if arg, ok := c.subst[param]; ok {
			expr = arg
		}
		args[i] = expression(expr, env)
	}
	w.enqueue(c.node)
	return fmt.Sprintf("%s(%s)", c.node.emitName, strings.Join(args, ", "))
}

func (w *writer) selects(c *Code, env names, depth int) {
	w.line(c.pos, "select {")
	w.indent++
	for _, arm := range c.arms {
		w.daemon, w.imprecise, w.recovered = c.daemon, false, c.recovered
		inner := env
		switch arm.op {
		case opPut:
			w.line(arm.pos, "put %s %s {", operand(arm.on, env), w.message(arm.on, arm.expr, env))
		case opGet:
			var head string
			inner, head = w.gets(arm, env)
			w.line(arm.pos, "%s {", head)
		case opTimeout:
			w.line(arm.pos, "timeout {")
		case opDefault:
			w.line(arm.pos, "default {")
		}
		w.block(arm.next, inner, depth+1)
		w.line(0, "}")
	}
	w.indent--
	w.line(0, "}")
}

func (w *writer) gets(c *Code, env names) (names, string) {
	channel := operand(c.on, env)
	value, ok := "", ""
	if c.name != "" {
		env, value = w.bind(env, c.name)
	}
	if c.ok != "" {
		env, ok = w.bind(env, c.ok)
	}
	switch {
	case ok != "" && value == "":
		return env, fmt.Sprintf("_, %s = get %s", ok, channel)
	case ok != "":
		return env, fmt.Sprintf("%s, %s = get %s", value, ok, channel)
	case value != "":
		return env, fmt.Sprintf("%s = get %s", value, channel)
	}
	return env, "get " + channel
}

// statement writes one statement, or the few that a device is made of.
func (w *writer) statement(c *Code, env names) names {
	on := ""
	if c.on != nil {
		on = operand(c.on, env)
	}
	switch c.op {
	case opChan:
		var name string
		env, name = w.bind(env, c.name)
		w.shown.object(w.d, c.name, name)
		element := w.d.typeOf(w.d.keys[c.name], 0)
		if c.n > 0 {
			w.line(c.pos, "chan %s: %s[%d]", name, element, c.n)
		} else {
			w.line(c.pos, "chan %s: %s", name, element)
		}
	case opLockNew:
		var name string
		env, name = w.bind(env, c.name)
		w.shown.object(w.d, c.name, name)
		w.line(c.pos, "%s %s", c.note, name)
	case opAssign:
		value := expression(c.expr, env)
		var name string
		env, name = w.bind(env, c.name)
		w.line(c.pos, "%s = %s", name, value)
	case opPut:
		w.line(c.pos, "put %s %s", on, w.message(c.on, c.expr, env))
	case opGet:
		var head string
		env, head = w.gets(c, env)
		w.line(c.pos, "%s", head)
	case opClose:
		w.line(c.pos, "close %s", on)
	case opSpawn:
		w.shown.function(w.d, c.runs, c.node.emitName)
		w.line(c.pos, "spawn {")
		w.indent++
		w.line(0, "%s", w.callText(c, env))
		w.indent--
		w.line(0, "}")
	case opCall:
		w.line(c.pos, "%s", w.callText(c, env))
	case opSync:
		w.line(c.pos, "%s %s", c.note, on)
	case opAdd:
		w.line(c.pos, "add %s %s", on, expression(c.expr, env))
	default:
		return w.device(c, env, on)
	}
	return env
}

// device writes what stands for shared memory and for models. Only what Go does has a position.
func (w *writer) device(c *Code, env names, on string) names {
	switch c.op {
	case opCellNew:
		value := w.message(variable(c.name), c.expr, env)
		var name string
		env, name = w.bind(env, c.name)
		w.line(0, "chan %s: %s[1]", name, w.d.typeOf(w.d.keys[c.name], 0))
		w.line(0, "put %s %s", name, value)
	case opEntryNew:
		var name string
		env, name = w.bind(env, c.name)
		w.line(0, "chan %s: %s[1]", name, w.d.typeOf(w.d.keys[c.name], 0))
	case opEntryFill:
		w.line(0, "put %s %s", on, w.message(c.on, c.expr, env))
	case opEntryPut, opEntryDelete:
		guard := expression(c.test, env)
		if !c.held {
			w.line(0, "get %s", guard)
		}
		w.line(0, "select {")
		w.line(0, "    get %s {}", on)
		w.line(0, "    default {}")
		w.line(0, "}")
		if c.op == opEntryPut {
			w.line(0, "put %s %s", on, w.message(c.on, c.expr, env))
		}
		if !c.held {
			w.line(0, "put %s ()", guard)
		}
	case opCellRead:
		var name string
		env, name = w.bind(env, c.name)
		w.line(0, "%s = get %s", name, on)
		w.line(0, "put %s %s", on, name)
	case opCellWrite:
		w.line(0, "get %s", on)
		w.line(0, "put %s %s", on, w.message(c.on, c.expr, env))
	case opCellUpdate:
		var name string
		env, name = w.bind(env, c.name)
		w.line(0, "%s = get %s", name, on)
		w.line(0, "put %s %s", on, w.message(c.on, c.expr, env))
	case opCellSwap:
		var name string
		env, name = w.bind(env, c.name)
		w.line(0, "%s = get %s", name, on)
		w.line(0, "if %s {", expression(c.test, env))
		w.line(0, "    put %s %s", on, expression(c.expr, env))
		w.line(0, "} else {")
		if c.last != nil {
			name = expression(c.last, env)
		}
		w.line(0, "    put %s %s", on, name)
		w.line(0, "}")
	case opCloseOnce:
		w.closeOnce(c, env, on)
	case opWaiting:
		count := w.fresh("waiters")
		w.line(0, "%s = get %s", count, on)
		w.line(0, "put %s %s + 1", on, count)
	case opSignal:
		cell, count := expression(c.expr, env), w.fresh("waiters")
		w.line(0, "%s = get %s", count, cell)
		w.line(0, "if %s > 0 {", count)
		w.line(c.pos, "    put %s ()", on)
		w.line(0, "    %s = %s - 1", count, count)
		w.line(0, "}")
		w.line(0, "put %s %s", cell, count)
	case opBroadcast:
		cell, count := expression(c.expr, env), w.fresh("waiters")
		w.line(0, "%s = get %s", count, cell)
		w.line(0, "while %s > 0 {", count)
		w.line(c.pos, "    put %s ()", on)
		w.line(0, "    %s = %s - 1", count, count)
		w.line(0, "}")
		w.line(0, "put %s 0", cell)
	}
	return env
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\'')
		case r < ' ' || r > '~':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
		if b.Len() > 150 {
			break
		}
	}
	b.WriteByte('"')
	return b.String()
}

// closeOnce closes a channel unless a cell says that it is closed, or one of others says that what it
// depends on has ended. Cells are taken in the order from a context to its ancestors.
func (w *writer) closeOnce(c *Code, env names, on string) {
	cell, ended := expression(c.expr, env), w.fresh("ended")
	w.line(0, "%s = get %s", ended, cell)
	w.line(0, "if %s {", ended)
	w.line(0, "    put %s true", cell)
	depth := 0
	var last *Expr
	if c.test != nil {
		last = c.test.args[0]
		for above := c.test.args[1]; above.op == "and"; above = above.args[1] {
			name, other := w.fresh("ended"), expression(above.args[0], env)
			depth++
			w.line(0, "} else {")
			w.line(0, "%s = get %s", name, other)
			w.line(0, "put %s %s", other, name)
			w.line(0, "if %s {", name)
			w.line(0, "    put %s false", cell)
		}
	}
	w.line(0, "} else {")
	if last != nil && last.op == "var" {
		w.line(0, "    get %s", expression(last, env))
		w.line(0, "    put %s true", expression(last, env))
	}
	w.line(c.pos, "    close %s", on)
	w.line(0, "    put %s true", cell)
	for range depth + 1 {
		w.line(0, "}")
	}
}
