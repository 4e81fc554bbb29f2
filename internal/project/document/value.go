// Package document reads files that people write: values under their names and with
// their places, whatever the format. It is strict, and goes on after a fault, so that
// all of them are found at once.
package document

import (
	"slices"
	"strconv"
)

// Kind is what a value is.
type Kind int

// The kinds of values.
const (
	Broken Kind = iota // a fault says why; what reads the value stays silent
	Null
	Text
	Block // text of several lines
	Boolean
	Integer
	Float
	List
	Mapping
	Other // what only one format has, such as dates
)

// Node is a value as its format has it. Its children are looked at only when they are
// asked for: what is wrong with those of an unknown key does not matter.
type Node interface {
	Place // without a width where nothing is written
	Kind() Kind
	Text() string // of text; of a number or a boolean: as it is written
	Items() []Node
	Entries() []Entry // in the order of the file, each key once
	// Describe names the value in a message about its type.
	Describe() string
}

// Entry is one key of a mapping and its value.
type Entry struct {
	Name string
	Key  Place
	Node Node
}

// Dialect is how messages about a kind of file are put.
type Dialect struct {
	Key, Mapping string // what messages call a key and a mapping
	ListHint     string // to a person who wrote a mapping in place of a list
	After        string // the name of a value, before what is wrong with it
	Want, Found  string // before the type that is wanted, and the one that is there
	Longest      int    // quotation, in characters
	AtKey        bool   // a key is missing at that of its mapping, not at its first line
}

// Quote shows a text of the file in a message.
func (s *Source) Quote(text string) string { return Quote(text, s.Longest) }

// Value is a node under the name that messages give it.
type Value struct {
	*Source
	Name string
	Key  Place // nil for the file and for entries of a list
	Node Node
}

// Span is where the value is written, or the key where nothing is.
func (v Value) Span() Span {
	span := v.Node.Span()
	if span.Width == 0 && v.Key != nil {
		return v.Key.Span()
	}
	span.Width = max(span.Width, 1)
	return span
}

// Position is where the value begins.
func (v Value) Position() Position {
	if v.Node.Kind() == Broken {
		return Position{File: v.Source.Name}
	}
	return v.Source.Position(v)
}

// Fault says what is wrong with the value.
func (v Value) Fault(message, hint string) { v.Source.Fault(v, v.Name+v.After+message, hint) }

// WrongType says that the value is of another type than is wanted. It stays silent where
// there is no value.
func (v Value) WrongType(want, hint string) {
	if v.Node.Kind() != Broken {
		v.Fault(v.Want+want+v.Found+v.Node.Describe(), hint)
	}
}

// Is reports whether the value is of a kind, and records that it is not.
func (v Value) Is(kind Kind, want, hint string) bool {
	if v.Node.Kind() != kind {
		v.WrongType(want, hint)
	}
	return v.Node.Kind() == kind
}

// Mapping reads a mapping whose keys are known, and reports whether it is one. A mapping
// without content counts as an empty one, so that all of it can be commented out.
func (v Value) Mapping(fields ...Field) bool {
	entries, ok := v.Entries()
	if !ok {
		return false
	}
	valid := names(fields)
	present := make([]string, 0, len(entries))
	for _, entry := range entries {
		if i := slices.Index(valid, entry.Name); i >= 0 {
			present = append(present, entry.Name)
			fields[i].Read(entry)
			continue
		}
		v.Unknown(v.Dialect.Key, entry.Name, entry.Key, valid)
		// A key that was misspelt is one fault, not a missing one as well.
		present = append(present, Suggest(entry.Name, valid))
	}
	for _, f := range fields {
		if f.Required && !slices.Contains(present, f.Name) {
			v.Source.Fault(v.begin(), f.Name+" is missing", "")
		}
	}
	return true
}

func names(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// begin is where what a mapping lacks is missing.
func (v Value) begin() Place {
	if v.AtKey && v.Key != nil {
		return v.Key
	}
	return v
}

// Entries returns the values of a mapping under their keys.
func (v Value) Entries() (entries []Value, ok bool) {
	switch v.Node.Kind() {
	case Null:
		return nil, true
	case Mapping:
		for _, e := range v.Node.Entries() {
			entries = append(entries, Value{v.Source, e.Name, e.Key, e.Node})
		}
		return entries, true
	}
	v.WrongType(v.Dialect.Mapping, "")
	return nil, false
}

// List returns the entries of a list. A list without content is empty.
func (v Value) List(hint string) (items []Value, ok bool) {
	switch v.Node.Kind() {
	case Null:
		return nil, true
	case List:
		for i, item := range v.Node.Items() {
			items = append(items, Value{v.Source, "entry " + strconv.Itoa(i+1) + " of " + v.Name, nil, item})
		}
		return items, true
	case Mapping:
		hint += v.ListHint
	}
	v.WrongType("a list", hint)
	return nil, false
}
