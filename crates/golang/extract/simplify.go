package main

import (
	"fmt"
	"maps"
	"sort"
	"strings"
)

// simplify makes a program small without changing what it can do: nodes that behave alike become
// one, choices without a difference disappear, and so does code that is never used.
func simplify(d *Driver, start *Node) {
	for range 6 {
		before := measure(start)
		order := reachable(start)
		d.parameters(order)
		for _, node := range order {
			node.code = d.clean(node.code)
		}
		d.forward(reachable(start), start)
		d.flatten(reachable(start))
		order = reachable(start)
		d.parameters(order)
		d.merge(order)
		for _, node := range reachable(start) {
			node.code = d.sameArms(node.code)
		}
		if measure(start) == before {
			break
		}
	}
	d.parameters(reachable(start))
}

func measure(start *Node) string {
	order := reachable(start)
	size := 0
	for _, node := range order {
		walk(node.code, func(*Code) { size++ })
	}
	return fmt.Sprint(len(order), size)
}

// walk visits all code of a node.
func walk(c *Code, visit func(*Code)) {
	for ; c != nil; c = c.next {
		visit(c)
		for _, arm := range c.arms {
			walk(arm, visit)
		}
	}
}

// reachable lists the nodes in the order they are first met.
func reachable(start *Node) []*Node {
	seen := map[*Node]bool{start: true}
	order := []*Node{start}
	for i := 0; i < len(order); i++ {
		walk(order[i].code, func(c *Code) {
			if c.node != nil && !seen[c.node] {
				seen[c.node] = true
				order = append(order, c.node)
			}
		})
	}
	return order
}

// binds lists the variables that code introduces for what follows it.
func (c *Code) binds() []string {
	var names []string
	switch c.op {
	case opChan, opLockNew, opAssign, opGet, opCellNew, opCellRead, opCellUpdate, opCellSwap, opEntryNew:
		if c.name != "" {
			names = append(names, c.name)
		}
		if c.ok != "" {
			names = append(names, c.ok)
		}
	}
	return names
}

// free collects the variables that code needs.
func free(c *Code, out map[string]bool) {
	if c == nil {
		return
	}
	free(c.next, out)
	for _, arm := range c.arms {
		// What an arm introduces is its own: another may need a variable of the same name.
		inner := map[string]bool{}
		free(arm, inner)
		for name := range inner {
			out[name] = true
		}
	}
	c.needs(out)
}

// needs makes of what the arms of one piece of code and the code after it need what is needed with
// it.
func (c *Code) needs(out map[string]bool) {
	for _, name := range c.binds() {
		delete(out, name)
	}
	use := func(name string) { out[name] = true }
	c.on.each(use)
	if c.op == opCellUpdate || c.op == opCellSwap {
		inner := map[string]bool{}
		c.expr.each(func(name string) { inner[name] = true })
		c.test.each(func(name string) { inner[name] = true })
		c.last.each(func(name string) { inner[name] = true })
		delete(inner, c.name)
		for name := range inner {
			out[name] = true
		}
	} else {
		c.expr.each(use)
		c.test.each(use)
	}
	if c.node != nil {
		for _, param := range c.node.params {
			if arg, ok := c.subst[param]; ok {
				arg.each(use)
			} else {
				out[param] = true
			}
		}
	}
}

// parameters finds what each node needs: the least fixed point.
func (d *Driver) parameters(order []*Node) {
	for _, node := range order {
		node.params = nil
	}
	for changed := true; changed; {
		changed = false
		for i := len(order) - 1; i >= 0; i-- {
			node := order[i]
			needed := map[string]bool{}
			free(node.code, needed)
			if len(needed) != len(node.params) {
				node.params = sortedKeys(needed)
				changed = true
			}
		}
	}
}

// clean removes what is made or bound and not used.
func (d *Driver) clean(c *Code) *Code {
	cleaned, _ := d.cleanUsed(c)
	return cleaned
}

// cleanUsed also tells what the code that is left needs. Code may be thousands of pieces deep, so
// each is looked at once.
func (d *Driver) cleanUsed(c *Code) (*Code, map[string]bool) {
	if c == nil {
		return nil, map[string]bool{}
	}
	var inner []map[string]bool
	for i, arm := range c.arms {
		cleaned, needed := d.cleanUsed(arm)
		c.arms[i] = cleaned
		inner = append(inner, needed)
	}
	next, used := d.cleanUsed(c.next)
	c.next = next
	switch c.op {
	case opChan, opLockNew, opCellNew, opAssign, opCellRead, opEntryNew:
		if !used[c.name] {
			return c.next, used
		}
	case opGet:
		if c.name != "" && !used[c.name] {
			c.name = ""
		}
		if c.ok != "" && !used[c.ok] {
			c.ok = ""
		}
	case opSkip:
		return c.next, used
	}
	for _, needed := range inner {
		if len(used) == 0 {
			used = needed
			continue
		}
		for name := range needed {
			used[name] = true
		}
	}
	c.needs(used)
	return c, used
}

// compose is the substitution of going to one node and from there to another.
func compose(inner, outer map[string]*Expr, params []string) map[string]*Expr {
	out := map[string]*Expr{}
	for _, param := range params {
		expr := variable(param)
		if arg, ok := inner[param]; ok {
			expr = arg
		}
		expr = expr.rename(outer)
		if expr.op != "var" || expr.name != param {
			out[param] = expr
		}
	}
	return out
}

// forward leads past nodes that only lead on.
func (d *Driver) forward(order []*Node, start *Node) {
	for _, node := range order {
		walk(node.code, func(c *Code) {
			seen := map[*Node]bool{}
			for c.node != nil && c.node.code != nil && c.node.code.op == opGoto && !seen[c.node] {
				if c.op == opCall && !c.node.code.node.returns {
					c.node.code.node.returns = true
				}
				seen[c.node] = true
				next := c.node.code
				c.subst = compose(next.subst, c.subst, next.node.params)
				c.node = next.node
			}
		})
	}
}

// flatten joins choices that follow each other, and removes rounds in which nothing happens.
func (d *Driver) flatten(order []*Node) {
	for _, node := range order {
		if node.code == nil || node.code.op != opChoose {
			continue
		}
		var arms []*Code
		seen := map[*Node]bool{node: true}
		lossy := collectArms(node.code, seen, &arms)
		if len(arms) == 0 {
			node.code = &Code{op: opGoto, node: node, pos: node.code.pos}
		} else {
			node.code = &Code{op: opChoose, pos: node.code.pos, arms: arms, lossy: lossy, daemon: node.code.daemon}
		}
	}
}

// collectArms lists the arms of a choice and of the choices that follow it; it tells whether one of
// them is there because data is not followed.
func collectArms(c *Code, seen map[*Node]bool, arms *[]*Code) bool {
	lossy := c.lossy
	for _, arm := range c.arms {
		switch {
		case arm.op == opChoose:
			lossy = collectArms(arm, seen, arms) || lossy
		case arm.op == opGoto && len(arm.subst) == 0 && seen[arm.node]:
		case arm.op == opGoto && len(arm.subst) == 0 && arm.node.code != nil && arm.node.code.op == opChoose && len(*arms) < 64:
			seen[arm.node] = true
			lossy = collectArms(arm.node.code, seen, arms) || lossy
		default:
			*arms = append(*arms, arm)
		}
	}
	return lossy
}

// sameArms removes choices between arms that are alike.
func (d *Driver) sameArms(c *Code) *Code {
	if c == nil {
		return nil
	}
	for i, arm := range c.arms {
		c.arms[i] = d.sameArms(arm)
	}
	c.next = d.sameArms(c.next)
	looks := c.op == opSelect && c.note == "look"
	if c.op != opChoose && c.op != opIf && !looks {
		return c
	}
	texts := map[string]bool{}
	var arms []*Code
	for _, arm := range c.arms {
		s := newSigner(nil)
		s.exact = true
		if looks {
			arm = arm.next
		}
		s.code(arm)
		if written := s.out.String(); !texts[written] {
			texts[written] = true
			arms = append(arms, arm)
		}
	}
	if len(arms) == 1 {
		return arms[0]
	}
	if c.op == opChoose {
		c.arms = arms
	}
	return c
}

// mostMerged is how many nodes are compared with each other: it takes time by their square.
const mostMerged = 600

// merge makes nodes that behave alike one: partition refinement, starting from all being alike.
func (d *Driver) merge(order []*Node) {
	if len(order) > mostMerged {
		return
	}
	for range 3 {
		for _, node := range order {
			s := newSigner(nil)
			s.code(node.code)
			sort.SliceStable(node.params, func(i, j int) bool {
				return s.rank(node.params[i]) < s.rank(node.params[j])
			})
		}
	}
	class := map[*Node]int{}
	count := 1
	for {
		numbers := map[string]int{}
		next := map[*Node]int{}
		for _, node := range order {
			s := newSigner(class)
			for _, param := range node.params {
				fmt.Fprintf(&s.out, "%s:%s ", s.name(param), d.typeText(param))
			}
			fmt.Fprintf(&s.out, "%d %t|", class[node], node.returns)
			s.code(node.code)
			written := s.out.String()
			number, ok := numbers[written]
			if !ok {
				number = len(numbers)
				numbers[written] = number
			}
			next[node] = number
		}
		class = next
		if len(numbers) == count {
			break
		}
		count = len(numbers)
	}
	first := map[int]*Node{}
	for _, node := range order {
		if first[class[node]] == nil {
			first[class[node]] = node
		}
	}
	for _, node := range order {
		walk(node.code, func(c *Code) {
			if c.node == nil || first[class[c.node]] == c.node || first[class[c.node]] == nil {
				return
			}
			other := first[class[c.node]]
			subst := map[string]*Expr{}
			for i, param := range c.node.params {
				expr := variable(param)
				if arg, ok := c.subst[param]; ok {
					expr = arg
				}
				if name := other.params[i]; expr.op != "var" || expr.name != name {
					subst[name] = expr
				}
			}
			c.node, c.subst = other, subst
		})
	}
}

// signer writes code so that only names of variables do not matter.
type signer struct {
	out   strings.Builder
	free  map[string]int // variables from outside, in the order they are met
	bound map[string]int // variables of the code itself that are in scope
	binds int
	class map[*Node]int
	exact bool // do the names of variables from outside matter after all?
}

func newSigner(class map[*Node]int) *signer {
	return &signer{free: map[string]int{}, bound: map[string]int{}, class: class}
}

func (s *signer) name(name string) string {
	if number, ok := s.bound[name]; ok {
		return fmt.Sprintf("b%d", number)
	}
	if s.exact {
		return "v " + name
	}
	return fmt.Sprintf("v%d", s.rank(name))
}

// rank is the place of a variable from outside among those that were met.
func (s *signer) rank(name string) int {
	n, ok := s.free[name]
	if !ok {
		n = len(s.free)
		s.free[name] = n
	}
	return n
}

func (s *signer) expr(e *Expr) {
	if e == nil {
		return
	}
	if e.op == "var" {
		s.out.WriteString(s.name(e.name))
		return
	}
	fmt.Fprintf(&s.out, "%s%d(", e.op, e.n)
	for _, arg := range e.args {
		s.expr(arg)
		s.out.WriteByte(',')
	}
	s.out.WriteByte(')')
}

// arm writes code whose variables end with it.
func (s *signer) arm(c *Code) {
	outer := maps.Clone(s.bound)
	s.code(c)
	s.bound = outer
}

func (s *signer) code(c *Code) {
	for ; c != nil; c = c.next {
		pos := c.pos
		switch c.op {
		case opGoto, opChoose, opIf, opEnd:
			pos = 0
		}
		fmt.Fprintf(&s.out, "%s@%d %s%d%t%t%t%t ", c.op, pos, c.note, c.n, c.daemon, c.lossy, c.held, c.recovered)
		s.expr(c.on)
		s.out.WriteByte(' ')
		s.expr(c.expr)
		s.expr(c.test)
		s.expr(c.last)
		for _, name := range []string{c.name, c.ok} {
			if name != "" {
				s.binds++
				s.bound[name] = s.binds
				s.out.WriteString("=" + s.name(name))
			}
		}
		if c.node != nil {
			if s.class == nil {
				fmt.Fprintf(&s.out, "n%d", c.node.id)
			} else {
				fmt.Fprintf(&s.out, "c%d", s.class[c.node])
			}
			for _, param := range c.node.params {
				if arg, ok := c.subst[param]; ok {
					s.expr(arg)
				} else {
					s.out.WriteString(s.name(param))
				}
				s.out.WriteByte(',')
			}
		}
		for _, arm := range c.arms {
			s.out.WriteByte('{')
			s.arm(arm)
			s.out.WriteByte('}')
		}
		s.out.WriteByte(';')
	}
}
