// json.Marshal calls no methods of fields that it leaves out, and none of keys that are strings. Of two
// methods it calls MarshalJSON.
//
// verdict: terminates
package main

import "encoding/json"

type state struct{ name string }

func (s state) MarshalJSON() ([]byte, error) { select {} }

type name string

func (n name) MarshalText() ([]byte, error) { select {} }

type level int

func (l level) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
func (l level) MarshalText() ([]byte, error) { select {} }

func main() {
	json.Marshal(struct {
		hidden state
		Left   state `json:"-"`
		Level  level
		Names  map[name]int
	}{Names: map[name]int{"a": 1}})
}
