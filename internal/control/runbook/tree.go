package runbook

import "strconv"

// node is a value of a file, in either format.
type node struct {
	kind    kind
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

type kind int

const (
	textKind kind = iota
	numberKind
	booleanKind
	listKind
	tableKind
	otherKind  // what only one of the formats has, such as dates
	brokenKind // a fault is on record; whoever reads it says nothing more
)

// String is the kind in the words of a message.
func (k kind) String() string {
	return [...]string{"text", "a number", "true or false", "a list", "a table", "a date", "something unreadable"}[k]
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
	s.faultOfFile("is too large: more than "+strconv.Itoa(maxNodes)+" fields and values", "")
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

// put adds a field to a table, or records that it is there already.
func (s *source) put(table *node, e entry) {
	if table.put(e) {
		return
	}
	first := s.line(table.get(e.key).at)
	s.fault(e.at, "duplicate "+quote(e.key), "it is already on line "+strconv.Itoa(first))
}

// quote is a word of a file in a message, shortened.
func quote(word string) string {
	const most = 60
	if runes := []rune(word); len(runes) > most {
		word = string(runes[:most]) + "…"
	}
	return strconv.Quote(word)
}
