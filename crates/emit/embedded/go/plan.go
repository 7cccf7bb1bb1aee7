package main

import (
	"errors"
	"strconv"
	"strings"
)

// A program as flat instructions; the text form is that of Plan::to_text.
type plan struct {
	main         int
	functions    []function
	instructions []instruction
}

type function struct {
	entry     int
	variables int
	params    []int
}

type instruction struct {
	word      string
	slot      int // the variable that is set, or -1
	at        int // where to go on, the function of a call, or -1
	capacity  int
	places    []int
	arguments []*expression
	value     *expression
	cases     []alternative
	isSingle  bool
}

// One case of a select.
type alternative struct {
	word    string // put, get or timeout
	target  int
	kind    string // what a get expects
	slot    int
	ok      int
	channel *expression
	value   *expression
}

// A value: a word and, for channels, the channel.
type value struct {
	kind    byte // one of u, b, i, c
	word    int64
	channel chan int64
}

type expression struct {
	word        string
	constant    value
	slot        int
	left, right *expression
}

const maxDepth = 250

// Reads the words of a line; the first problem sticks.
type reader struct {
	words   []string
	problem error
}

func (r *reader) fail(problem string) {
	if r.problem == nil {
		r.problem = errors.New(problem)
	}
}

func (r *reader) next() string {
	if len(r.words) == 0 {
		r.fail("the line ends too early")
		return ""
	}
	word := r.words[0]
	r.words = r.words[1:]
	return word
}

func (r *reader) number() int {
	number, err := strconv.Atoi(r.next())
	if err != nil {
		r.fail("a number is missing or too large")
	}
	return number
}

func (r *reader) optional() int {
	if len(r.words) > 0 && r.words[0] == "_" {
		r.next()
		return -1
	}
	return r.number()
}

func (r *reader) rest() []int {
	numbers := []int{}
	for len(r.words) > 0 && r.problem == nil {
		numbers = append(numbers, r.number())
	}
	return numbers
}

func (r *reader) expression(depth int) *expression {
	word := r.next()
	if r.problem != nil || depth > maxDepth {
		r.fail("an expression is nested too deeply")
		return &expression{}
	}
	e := &expression{word: word}
	switch word {
	case "()":
		e.word, e.constant = "constant", value{kind: 'u'}
	case "true", "false":
		e.constant = value{kind: 'b'}
		if word == "true" {
			e.constant.word = 1
		}
		e.word = "constant"
	case "nil":
		e.word, e.constant = "constant", value{kind: 'c'}
	case "!", "neg":
		e.left = r.expression(depth + 1)
	case "||", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*":
		e.left = r.expression(depth + 1)
		e.right = r.expression(depth + 1)
	default:
		number, err := strconv.ParseInt(word[1:], 10, 64)
		if err != nil || (word[0] != 'v' && word[0] != 'i') {
			r.fail("an expression is unknown")
		}
		if word[0] == 'v' {
			e.word, e.slot = "variable", int(number)
		} else {
			e.word, e.constant = "constant", value{kind: 'i', word: number}
		}
	}
	return e
}

func (r *reader) instruction(word string) instruction {
	i := instruction{word: word, slot: -1, at: -1}
	switch word {
	case "jump", "spawn":
		i.at = r.number()
	case "choose":
		i.places = r.rest()
	case "set":
		i.slot = r.number()
		i.value = r.expression(0)
	case "unless":
		i.at = r.number()
		i.value = r.expression(0)
	case "open":
		i.slot = r.number()
		if capacity := r.next(); capacity == "unbounded" {
			r.fail("Go has no unbounded channels")
		} else if number, err := strconv.Atoi(capacity); err == nil {
			i.capacity = number
		} else {
			r.fail("a capacity is malformed")
		}
		r.next()
		r.next()
	case "call":
		i.at = r.number()
		i.slot = r.optional()
		for count := r.number(); count > 0 && r.problem == nil; count-- {
			i.arguments = append(i.arguments, r.expression(0))
		}
	case "return":
		if len(r.words) > 0 {
			i.value = r.expression(0)
		}
	case "see", "close":
		i.value = r.expression(0)
	case "abandon":
		r.fail("in Go receivers cannot leave")
	case "select", "single":
		i.word = "select"
		i.isSingle = word == "single"
		i.at = r.optional()
		for count := r.number(); count > 0 && r.problem == nil; count-- {
			i.cases = append(i.cases, r.alternative())
		}
	default:
		r.fail("there is no such instruction")
	}
	return i
}

func (r *reader) alternative() alternative {
	a := alternative{word: r.next(), target: r.number(), slot: -1, ok: -1}
	switch a.word {
	case "put":
		a.channel = r.expression(0)
		a.value = r.expression(0)
	case "get":
		a.kind = r.next()
		a.slot = r.optional()
		a.ok = r.optional()
		a.channel = r.expression(0)
	case "timeout":
	default:
		r.fail("there is no such case")
	}
	return a
}

func readPlan(lines []string) (*plan, error) {
	p := &plan{}
	for number, line := range lines {
		r := &reader{words: strings.Fields(line)}
		switch word := r.next(); word {
		case "main":
			p.main = r.number()
		case "fn":
			p.functions = append(p.functions, function{r.number(), r.number(), r.rest()})
		default:
			p.instructions = append(p.instructions, r.instruction(word))
		}
		if r.problem != nil {
			return nil, errors.New("line " + strconv.Itoa(number+1) + " of the plan: " + r.problem.Error())
		}
	}
	if p.main >= len(p.functions) {
		return nil, errors.New("the plan has no entry")
	}
	return p, nil
}

func truth(is bool) value {
	if is {
		return value{kind: 'b', word: 1}
	}
	return value{kind: 'b'}
}

func (e *expression) evaluate(variables []value) value {
	switch e.word {
	case "constant":
		return e.constant
	case "variable":
		return variables[e.slot]
	case "!":
		return truth(e.left.evaluate(variables).word == 0)
	case "neg":
		return value{kind: 'i', word: -e.left.evaluate(variables).word}
	}
	left, right := e.left.evaluate(variables), e.right.evaluate(variables)
	switch e.word {
	case "||":
		return truth(left.word != 0 || right.word != 0)
	case "&&":
		return truth(left.word != 0 && right.word != 0)
	case "==":
		return truth(left == right)
	case "!=":
		return truth(left != right)
	case "<":
		return truth(left.word < right.word)
	case "<=":
		return truth(left.word <= right.word)
	case ">":
		return truth(left.word > right.word)
	case ">=":
		return truth(left.word >= right.word)
	case "+":
		return value{kind: 'i', word: left.word + right.word}
	case "-":
		return value{kind: 'i', word: left.word - right.word}
	}
	return value{kind: 'i', word: left.word * right.word}
}
