package main

// Limits say how far the driver follows what it knows before it generalises.
type Limits struct {
	unroll int  // rounds of a loop whose end is known
	states int  // different states at one place otherwise
	roots  int  // different states in which one function is started as a goroutine
	depth  int  // calls of one function inside each other
	nodes  int  // functions of the program
	steps  int  // instructions in all
	skip   bool // go past branches that only compute plain data
	brief  bool // do not follow silent functions of initialisers that depend on what is not known
	// Are numbers that differ at one place kept as variables of the program? That is exact, but they
	// may grow forever.
	scalars bool
}

// allSteps is how many steps so many entries may take together. It keeps a module of a hundred
// thousand lines and a thousand tests below half a minute; where there are fewer, each may take
// more. Where there are many more, all of them have enough for a small test.
func allSteps(entries int) int {
	const usual, least, most, each = 8_000_000, 6_500_000, 24_000_000, 5_000
	return max(each*entries, min(most, max(least, usual/max(entries, 1)*900)))
}

// passes are how many steps an entry may take in each attempt to follow it exactly. Most need few;
// those that do not fit are tried again as long as there are steps left.
var passes = []int{3_000, 12_000, 60_000, 400_000}

// exactly are the limits of an attempt to follow an entry as it is.
func exactly(steps int) Limits {
	return Limits{unroll: 300, states: 16, roots: 140, depth: 70, nodes: 10_000, steps: steps, scalars: true, brief: steps > passes[0]}
}

// roughly are limits for what did not fit, tried in order.
func roughly(steps int) []Limits {
	return []Limits{
		{unroll: 60, states: 6, roots: 60, depth: 12, nodes: 4000, steps: steps, skip: true, brief: true},
		{unroll: 3, states: 2, roots: 4, depth: 3, nodes: 2000, steps: steps, skip: true, brief: true},
	}
}
