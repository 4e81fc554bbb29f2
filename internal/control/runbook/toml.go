package runbook

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/stopgate/stopgate/internal/project/document"
)

// maxDepth is far deeper than any runbook; the parsers recurse.
const maxDepth = 100

// parseTOML reads TOML; nil means that it cannot be read, and that a fault says why.
func (s *source) parseTOML() *node {
	t := tomlReader{source: s, root: &node{kind: document.Mapping}}
	t.table = t.root
	t.parser.Reset([]byte(s.Text))
	for t.parser.NextExpression() {
		if !t.expression(t.parser.Expression()) {
			return nil
		}
	}

	var broken *unstable.ParserError
	if err := t.parser.Error(); errors.As(err, &broken) {
		at := t.parser.Range(broken.Highlight)
		s.fault(span{int(at.Offset), int(at.Length)}, broken.Message, "")
		return nil
	}

	if !s.bounded(t.root) || !s.defined() {
		return nil
	}
	return t.root
}

// defined asks the library whether anything is defined twice: TOML's rules for that are
// long.
func (s *source) defined() bool {
	var document map[string]any
	err := toml.Unmarshal([]byte(s.Text), &document)
	if err == nil {
		return true
	}
	at, message := span{}, strings.TrimPrefix(err.Error(), "toml: ")
	var place *toml.DecodeError
	if errors.As(err, &place) {
		line, column := place.Position()
		at = span{s.offset(line, column), 1}
	}
	s.fault(at, message, "")
	return false
}

// offset is the place of a line and a column, both counted from 1, the column in bytes.
func (s *source) offset(line, column int) int {
	at := 0
	for range line - 1 {
		at += strings.IndexByte(s.Text[at:], '\n') + 1
	}
	return min(at+column-1, len(s.Text))
}

// tomlReader builds the tree. It need not look for what is defined twice: where that is
// so, the tree is thrown away.
type tomlReader struct {
	*source
	parser unstable.Parser
	root   *node
	table  *node // that fields are for now
}

// expression reads a line, and reports whether to go on.
func (t *tomlReader) expression(e *unstable.Node) bool {
	keys := keysOf(e.Key())
	if len(keys) > maxDepth {
		t.fault(rangeOf(keys[0]), "nested more than 100 deep", "")
		return false
	}
	switch e.Kind {
	case unstable.Table:
		t.table = t.below(t.root, keys)
	case unstable.ArrayTable:
		t.table = t.another(keys)
	case unstable.KeyValue:
		t.field(t.table, e)
	}
	return true
}

func keysOf(it unstable.Iterator) []*unstable.Node {
	var keys []*unstable.Node
	for it.Next() {
		keys = append(keys, it.Node())
	}
	return keys
}

func rangeOf(n *unstable.Node) span { return span{int(n.Raw.Offset), int(n.Raw.Length)} }

// below is the table under a path of keys, made where it is missing. In a list it is the
// last entry that is meant.
func (t *tomlReader) below(from *node, keys []*unstable.Node) *node {
	for _, key := range keys {
		name, at := string(key.Data), rangeOf(key)
		if from.get(name) == nil {
			from.put(entry{name, at, &node{kind: document.Mapping, at: at}})
		}
		from = from.get(name).node
		if from.kind == document.List && len(from.items) > 0 {
			from = from.items[len(from.items)-1]
		}
	}
	return from
}

// another is a new entry of the list under a path of keys.
func (t *tomlReader) another(keys []*unstable.Node) *node {
	last := keys[len(keys)-1]
	parent, name, at := t.below(t.root, keys[:len(keys)-1]), string(last.Data), rangeOf(last)
	parent.put(entry{name, at, &node{kind: document.List, at: at}})
	list := parent.get(name).node
	item := &node{kind: document.Mapping, at: at}
	list.items = append(list.items, item)
	return item
}

func (t *tomlReader) field(table *node, e *unstable.Node) {
	keys := keysOf(e.Key())
	last := keys[len(keys)-1]
	table = t.below(table, keys[:len(keys)-1])
	table.put(entry{string(last.Data), rangeOf(last), t.value(e.Value(), rangeOf(last))})
}

// value reads a value; those that have no place of their own have that of their key.
func (t *tomlReader) value(v *unstable.Node, key span) *node {
	n := &node{kind: document.Other, at: rangeOf(v), text: string(v.Data)}
	if n.at.size == 0 {
		n.at = key
	}

	switch v.Kind {
	case unstable.String:
		n.kind = document.Text
	case unstable.Integer:
		n.kind, n.text = document.Integer, strings.ReplaceAll(n.text, "_", "")
	case unstable.Float:
		n.kind, n.text = document.Float, strings.ReplaceAll(n.text, "_", "")
	case unstable.Bool:
		n.kind = document.Boolean
	case unstable.Array:
		n.kind = document.List
		for it := v.Children(); it.Next(); {
			n.items = append(n.items, t.value(it.Node(), key))
		}
	case unstable.InlineTable:
		n.kind = document.Mapping
		for it := v.Children(); it.Next(); {
			t.field(n, it.Node())
		}
	}
	return n
}
