package config

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/stopgate/stopgate/internal/project/document"
)

// maxVisits bounds what aliases of aliases expand to. Without aliases a file
// within maxTokens stays below it.
const maxVisits = 50_000

type (
	value = document.Value
	field = document.Field
)

// nothing is the value of a key that is not there. What reads it stays silent.
var nothing = value{Node: node{}}

// decoder reads YAML.
type decoder struct {
	*document.Source
	aliases map[*ast.AliasNode]ast.Node
	// visits counts the nodes looked at, and latest is the last alias on the
	// way: the one to blame when there are too many.
	visits int
	latest ast.Node
}

func newDecoder(s *document.Source) *decoder {
	return &decoder{Source: s, aliases: map[*ast.AliasNode]ast.Node{}}
}

// decode parses a file and hands its top value to read. It returns every fault
// that was found on the way.
func decode(s *document.Source, read func(value)) error {
	d := newDecoder(s)
	if root := d.parse(); root != nil {
		d.latest = root
		links := &linker{decoder: d, anchors: map[string]*anchor{}}
		links.link(root)
		read(value{Source: s, Name: "the file", Node: d.node(root)})
	}
	return s.Err()
}

// ReadYAML hands the top value of a file of another tool to read. Our own files have functions of their
// own.
func ReadYAML(name string, data []byte, read func(document.Value)) error {
	return decode(newSource(name, data), read)
}

func (d *decoder) node(n ast.Node) node { return node{d, d.resolve(n)} }

// resolve takes anchors, aliases and tags off a node.
func (d *decoder) resolve(node ast.Node) ast.Node {
	for {
		if d.visits++; d.visits > maxVisits {
			if d.visits == maxVisits+1 {
				d.Fault(mark{d, start(d.latest)}, "the aliases expand to more than "+strconv.Itoa(maxVisits)+" values", "")
			}
			d.Count++
			return nil
		}

		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.AliasNode:
			target, ok := d.aliases[n]
			if !ok {
				d.Count++ // here as well: each section counts its own
				return nil
			}
			d.latest, node = n, target
		case *ast.TagNode:
			inner, ok := d.untag(n)
			if !ok {
				return nil
			}
			node = inner
		default:
			return node
		}
	}
}

// untag lets the tags of YAML's core schema pass: the value must then be what
// the setting wants anyway. Only !!str changes how a value reads.
func (d *decoder) untag(n *ast.TagNode) (ast.Node, bool) {
	switch n.Value.(type) {
	case *ast.AnchorNode, *ast.AliasNode:
		// The parser takes what follows for the value, even the next entry.
		d.Fault(mark{d, n.Start}, "a tag before an anchor or an alias is not supported", "")
		return nil, false
	}
	switch tag := token.ReservedTagKeyword(n.Start.Value); tag {
	case token.StringTag:
		return asText(n.Value), true
	case token.IntegerTag, token.FloatTag, token.BooleanTag, token.NullTag, token.MappingTag, token.SequenceTag:
		return n.Value, true
	}
	// More often than not this is a shell's negation.
	name := strings.TrimSpace(n.Start.Value)
	d.Fault(mark{d, n.Start}, "the tag "+oneLine(name)+" is not supported", "put text that begins with ! in quotes")
	return nil, false
}

// asText makes a string of a number or a word such as true, as it is written.
func asText(node ast.Node) ast.Node {
	switch node.(type) {
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		t := node.GetToken()
		return &ast.StringNode{Token: t, Value: t.Value}
	}
	return node
}

// start is the first token of a node. The node's own choice is often another:
// that of a block mapping is its first colon.
func start(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return start(n.Values[0])
		}
	case *ast.MappingValueNode:
		return start(n.Key)
	case *ast.LiteralNode:
		return n.Start
	}
	return node.GetToken()
}
