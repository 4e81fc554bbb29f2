package config

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/stopgate/stopgate/internal/project/document"
)

// node is a value of a YAML file.
type node struct {
	d *decoder
	// ast has no anchor, alias or tag left around it. It is nil where an alias or a
	// tag leads nowhere; that fault is recorded.
	ast ast.Node
}

// Kind implements document.Node.
func (n node) Kind() document.Kind {
	switch n.ast.(type) {
	case nil:
		return document.Broken
	case *ast.NullNode:
		return document.Null
	case *ast.StringNode:
		return document.Text
	case *ast.LiteralNode:
		return document.Block
	case *ast.BoolNode:
		return document.Boolean
	case *ast.IntegerNode:
		return document.Integer
	case *ast.FloatNode:
		return document.Float
	case *ast.SequenceNode:
		return document.List
	case *ast.MappingNode, *ast.MappingValueNode:
		return document.Mapping
	}
	return document.Other
}

// Text implements document.Node.
func (n node) Text() string {
	switch a := n.ast.(type) {
	case *ast.StringNode:
		return a.Value
	case *ast.LiteralNode:
		return a.Value.Value
	}
	return n.ast.GetToken().Value
}

// Describe implements document.Node.
func (n node) Describe() string {
	switch n.Kind() {
	case document.Mapping:
		return "a mapping"
	case document.List:
		return "a list"
	case document.Text:
		return "the text " + quote(n.Text())
	case document.Block:
		return "a block of text"
	case document.Boolean:
		return "the boolean " + n.Text()
	case document.Null:
		return "nothing"
	}
	switch n.ast.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + oneLine(n.Text())
	}
	return "something else"
}

// Span implements document.Node.
func (n node) Span() document.Span {
	if n.ast == nil {
		return document.Span{}
	}
	span := mark{n.d, start(n.ast)}.Span()
	if null, ok := n.ast.(*ast.NullNode); ok && null.Token.Type == token.ImplicitNullType {
		span.Width = 0
	}
	return span
}

// Items implements document.Node.
func (n node) Items() []document.Node {
	list, _ := n.ast.(*ast.SequenceNode)
	items := make([]document.Node, len(list.Values))
	for i, item := range list.Values {
		items[i] = n.d.node(item)
	}
	return items
}

// Entries implements document.Node: what << brings in comes last.
func (n node) Entries() []document.Entry {
	switch a := n.ast.(type) {
	case *ast.MappingNode:
		return n.d.entries(a.Values)
	case *ast.MappingValueNode:
		return n.d.entries([]*ast.MappingValueNode{a})
	}
	return nil
}

func (d *decoder) entries(pairs []*ast.MappingValueNode) []document.Entry {
	found := make([]document.Entry, 0, len(pairs))
	lines := make(map[string]int, len(pairs))
	var merges []*ast.MappingValueNode
	for _, pair := range pairs {
		key, ok := d.key(pair.Key)
		if !ok {
			continue
		}
		if first, again := lines[key.Value]; again {
			d.Fault(mark{d, key}, "duplicate key "+quote(key.Value), "it is already on line "+strconv.Itoa(first))
			continue
		}
		lines[key.Value] = key.Position.Line

		if pair.Key.IsMergeKey() {
			merges = append(merges, pair)
			continue
		}
		found = append(found, document.Entry{Name: key.Value, Key: mark{d, key}, Node: d.node(pair.Value)})
	}

	for _, pair := range merges {
		for _, entry := range d.merged(value{Source: d.Source, Name: "<<", Key: mark{d, start(pair.Key)}, Node: d.node(pair.Value)}) {
			if _, have := lines[entry.Name]; !have {
				lines[entry.Name] = entry.Key.(mark).t.Position.Line
				found = append(found, document.Entry{Name: entry.Name, Key: entry.Key, Node: entry.Node})
			}
		}
	}
	return found
}

// key is the token that spells a key.
func (d *decoder) key(node ast.MapKeyNode) (*token.Token, bool) {
	switch n := d.resolve(node).(type) {
	case nil:
		return nil, false
	case ast.ScalarNode:
		if n.Type() != ast.LiteralType {
			return n.GetToken(), true
		}
	}
	d.Fault(mark{d, start(node)}, "a key must be a single word", "")
	return nil, false
}

// merged returns what << brings in: the entries of a mapping, or of a list of
// mappings, of which the earlier ones win.
func (d *decoder) merged(v value) []value {
	list, ok := v.Node.(node).ast.(*ast.SequenceNode)
	if !ok {
		entries, _ := v.Entries()
		return entries
	}
	var all []value
	for _, item := range list.Values {
		entries, _ := value{Source: d.Source, Name: "<<", Key: v.Key, Node: d.node(item)}.Entries()
		all = append(all, entries...)
	}
	return all
}
