package runbook

import (
	"slices"
	"strconv"

	"github.com/stopgate/stopgate/internal/project/document"
)

// node is a value of a file, in either format.
type node struct {
	kind    document.Kind
	at      span
	text    string // of text; of anything else that is one word: as it is written
	items   []*node
	entries []entry
	index   map[string]int // of entries, by key
}

// entry is one field of a table.
type entry struct {
	key  string
	at   span // of the key
	node *node
}

// placed is a node of a file.
type placed struct {
	source *source
	*node
}

// nodeOf is the node of a value.
func nodeOf(v value) *node { return v.Node.(placed).node }

// keyOf is the place of the key of a value, or that of the value where it has none.
func keyOf(v value) span {
	if key, ok := v.Key.(mark); ok {
		return key.span
	}
	return nodeOf(v).at
}

// Kind implements document.Node.
func (p placed) Kind() document.Kind { return p.kind }

// Text implements document.Node.
func (p placed) Text() string { return p.text }

// Span implements document.Node.
func (p placed) Span() document.Span { return mark{p.source, p.at}.Span() }

// Describe implements document.Node.
func (p placed) Describe() string { return describe(p.kind) }

// describe is a kind in the words of a message.
func describe(kind document.Kind) string {
	switch kind {
	case document.Text:
		return "text"
	case document.Integer, document.Float:
		return "a number"
	case document.Boolean:
		return "true or false"
	case document.List:
		return "a list"
	case document.Mapping:
		return "a table"
	}
	return "a date"
}

// Items implements document.Node.
func (p placed) Items() []document.Node {
	items := make([]document.Node, len(p.items))
	for i, item := range p.items {
		items[i] = placed{p.source, item}
	}
	return items
}

// Entries implements document.Node.
func (p placed) Entries() []document.Entry {
	entries := make([]document.Entry, len(p.entries))
	for i, e := range p.entries {
		entries[i] = document.Entry{Name: e.key, Key: mark{p.source, e.at}, Node: placed{p.source, e.node}}
	}
	return entries
}

// size is the number of values in a value, itself included.
func (n *node) size() int {
	size := 1
	for _, item := range n.items {
		size += item.size()
	}
	for _, e := range n.entries {
		size += e.node.size()
	}
	return size
}

// What bounds the work for one file, since both libraries take quadratic time: TOML's for
// the fields of a table, HCL's for the lines of a heredoc and the pieces of a text. What a
// person writes stays far below.
const (
	maxNodes     = 10_000
	maxLines     = 5_000
	maxPieces    = 1_000  // of one text
	maxAllPieces = 50_000 // of all
)

// bounded records that a tree is too large.
func (s *source) bounded(tree *node) bool {
	if tree.size() <= maxNodes {
		return true
	}
	s.faultOfFile("is too large: more than " + strconv.Itoa(maxNodes) + " fields and values")
	return false
}

func (n *node) get(key string) *entry {
	if i, ok := n.index[key]; ok {
		return &n.entries[i]
	}
	return nil
}

// put adds a field, and reports whether there was none of that name.
func (n *node) put(e entry) bool {
	if n.get(e.key) != nil {
		return false
	}
	if n.index == nil {
		n.index = map[string]int{}
	}
	n.index[e.key] = len(n.entries)
	n.entries = append(n.entries, e)
	return true
}

// remove takes a field out.
func (n *node) remove(key string) {
	at, ok := n.index[key]
	if !ok {
		return
	}
	n.entries = slices.Delete(n.entries, at, at+1)
	delete(n.index, key)
	for i, e := range n.entries[at:] {
		n.index[e.key] = at + i
	}
}

// put adds a field to a table, or records that it is there already.
func (s *source) put(table *node, e entry) {
	if table.put(e) {
		return
	}
	first := s.line(table.get(e.key).at)
	s.fault(e.at, "duplicate "+quote(e.key), "it is already on line "+strconv.Itoa(first))
}
