package config

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// maxVisits bounds what aliases of aliases expand to. Without aliases a file
// within maxTokens stays below it.
const maxVisits = 50_000

// decoder reads values off a tree. It goes on after a fault, so that all of
// them are found at once.
//
// A setting is read by a method of value that writes to its destination and
// reports whether it did. After a fault the destination is as it was.
type decoder struct {
	*source
	aliases map[*ast.AliasNode]ast.Node
	// visits counts the nodes looked at, and latest is the last alias on the
	// way: the one to blame when there are too many.
	visits int
	latest ast.Node
}

// decode parses a file and hands its top value to read. It returns every fault
// that was found on the way.
func decode(name string, data []byte, read func(value)) error {
	return newSource(name, data).decode(read)
}

func (s *source) decode(read func(value)) error {
	d := &decoder{source: s, aliases: map[*ast.AliasNode]ast.Node{}}
	if root := d.parse(); root != nil {
		d.latest = root
		links := &linker{decoder: d, anchors: map[string]*anchor{}}
		links.link(root)
		read(d.value("the file", nil, root))
	}
	return d.err()
}

// value is a node of the tree, under the name that messages give it.
type value struct {
	d    *decoder
	name string
	key  *token.Token // nil for the file and for entries of a list
	// node has no anchor, alias or tag left around it. It is nil where an
	// alias or a tag leads nowhere; that fault is recorded, and whoever reads
	// the value keeps silent.
	node ast.Node
}

func (d *decoder) value(name string, key *token.Token, node ast.Node) value {
	return value{d: d, name: name, key: key, node: d.resolve(node)}
}

// resolve takes anchors, aliases and tags off a node.
func (d *decoder) resolve(node ast.Node) ast.Node {
	for {
		if d.visits++; d.visits > maxVisits {
			if d.visits == maxVisits+1 {
				d.fault(d.spanOf(start(d.latest)), "the aliases expand to more than "+strconv.Itoa(maxVisits)+" values", "")
			}
			d.count++
			return nil
		}
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.AliasNode:
			target, ok := d.aliases[n]
			if !ok {
				d.count++ // here as well: each section counts its own
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
		d.fault(d.spanOf(n.Start), "a tag before an anchor or an alias is not supported", "")
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
	d.fault(d.spanOf(n.Start), "the tag "+oneLine(name)+" is not supported", "put a text that begins with ! in quotes")
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

// span is where the value is written, or the key where nothing is.
func (v value) span() span {
	if null, ok := v.node.(*ast.NullNode); ok && v.key != nil && null.Token.Type == token.ImplicitNullType {
		return v.d.spanOf(v.key)
	}
	return v.d.spanOf(start(v.node))
}

func (v value) position() Position {
	if v.node == nil {
		return Position{File: v.d.name}
	}
	return v.d.position(v.span())
}

// fault says what is wrong with the value.
func (v value) fault(message, hint string) {
	v.d.fault(v.span(), v.name+": "+message, hint)
}

// wrongType says that the value is of another type than the setting. It keeps
// silent where there is no value.
func (v value) wrongType(want, hint string) {
	if v.node != nil {
		v.fault("wanted "+want+", found "+describe(v.node), hint)
	}
}

// describe names a value in a message about its type.
func describe(node ast.Node) string {
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		return "the text " + quote(n.Value)
	case *ast.LiteralNode:
		return "a block of text"
	case *ast.BoolNode:
		return "the boolean " + n.Token.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + oneLine(node.GetToken().Value)
	case *ast.NullNode:
		return "nothing"
	}
	return "something else"
}

// quote shows a text of the file in a message, safe to print and not too long.
func quote(text string) string {
	const longest = 40
	if characters := []rune(text); len(characters) > longest {
		text = string(characters[:longest]) + "…"
	}
	return strconv.Quote(text)
}
