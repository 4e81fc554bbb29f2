package config

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/stopgate/stopgate/internal/project/document"
)

// anchor is what a name stands for at one point of the file.
type anchor struct {
	node ast.Node
	open bool // its own value is still being read
}

// linker finds what each alias refers to: the last anchor of that name before
// it. The parser leaves that to its decoder.
type linker struct {
	*decoder
	anchors map[string]*anchor
}

func (l *linker) link(node ast.Node) {
	switch n := node.(type) {
	case *ast.AnchorNode:
		a := &anchor{node: n.Value, open: true}
		l.anchors[n.Name.GetToken().Value] = a
		l.link(n.Value)
		a.open = false
	case *ast.AliasNode:
		l.alias(n)
	case *ast.TagNode:
		l.link(n.Value)
	case *ast.MappingNode:
		for _, pair := range n.Values {
			l.link(pair)
		}
	case *ast.MappingValueNode:
		l.link(n.Key)
		l.link(n.Value)
	case *ast.SequenceNode:
		for _, item := range n.Values {
			l.link(item)
		}
	}
}

// alias links to a finished anchor only, so that following aliases always
// comes to an end.
func (l *linker) alias(n *ast.AliasNode) {
	name := n.Value.GetToken().Value
	at := mark{l.decoder, n.Start}.Span()
	at.Width += utf8.RuneCountInString(name)
	switch a := l.anchors[name]; {
	case a == nil:
		names := slices.Sorted(maps.Keys(l.anchors))
		l.Fault(at, "no anchor &"+oneLine(name)+" before this alias", document.DidYouMean(name, names))
	case a.open:
		l.Fault(at, "the alias *"+oneLine(name)+" is inside its own anchor", "")
	default:
		l.aliases[n] = a.node
	}
}
