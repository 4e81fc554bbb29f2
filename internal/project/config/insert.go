package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// errLayout says that a file is laid out in a way in which nothing can be added to it as text.
var errLayout = errors.New("the layout of the file")

// spot is the way to a list in a file: a key, and in a list of mappings the one with path: at.
type spot struct {
	key string
	at  string
}

// insert adds an entry to the end of a list and leaves every other line as it is. What is missing on the
// way to the list is added, too. The caller checks what came of it: this knows the layouts that people use,
// and no more.
func insert(text string, way []spot, e entry) (string, error) {
	d := newDecoder(newSource("", []byte(text)))
	root := d.parse()
	if root == nil {
		return "", errLayout
	}
	p := page{lines: strings.Split(text, "\n")}
	if strings.Contains(text, "\r\n") {
		p.end = "\r"
	}
	if err := p.walk(root, way, e); err != nil {
		return "", err
	}
	return strings.Join(p.lines, "\n"), nil
}

// page is the text that is being changed.
type page struct {
	lines []string
	end   string // of a line, before the line feed
}

// walk follows the way from a mapping.
func (p *page) walk(node ast.Node, way []spot, e entry) error {
	if _, empty := node.(*ast.NullNode); empty {
		return p.put(len(p.lines), 0, nested(way, e))
	}
	pairs, ok := blockPairs(node)
	if !ok {
		return errLayout
	}

	for {
		step := way[0]
		i := slices.IndexFunc(pairs, func(pair *ast.MappingValueNode) bool { return pair.Key.GetToken().Value == step.key })
		if i < 0 {
			last := pairs[len(pairs)-1].Key.GetToken().Position
			return p.put(p.blockEnd(last.Line, last.Column-1), last.Column-1, nested(way, e))
		}

		key := pairs[i].Key.GetToken().Position
		switch value := pairs[i].Value.(type) {
		case *ast.NullNode:
			return p.put(key.Line, key.Column+1, inList(way, e))
		case *ast.SequenceNode:
			if step.at == "" || value.IsFlowStyle {
				return p.append(value, key, way, e)
			}
			found := itemAt(value, step.at)
			if found == nil {
				return p.append(value, key, way, e)
			}
			pairs, way = found, way[1:]
		default:
			if pairs, ok = blockPairs(value); !ok {
				return errLayout
			}
			way = way[1:]
		}
	}
}

// append adds the rest of the way as an entry of the list under a key.
func (p *page) append(list *ast.SequenceNode, key *token.Position, way []spot, e entry) error {
	if list.IsFlowStyle {
		if way[0].at != "" {
			return errLayout
		}
		return p.putInBrackets(list, e)
	}
	dash := list.Start.Position
	return p.put(p.blockEnd(key.Line, key.Column-1), dash.Column-1, inList(way, e))
}

// putInBrackets adds an entry before the bracket that ends a list.
func (p *page) putInBrackets(list *ast.SequenceNode, e entry) error {
	if list.End == nil || len(list.Values) == 0 {
		return errLayout
	}
	at := list.End.Position
	line := p.lines[at.Line-1]
	i := byteIndex(line, at.Column-1)
	if i >= len(line) || line[i] != ']' {
		return errLayout
	}
	before := strings.TrimRight(line[:i], " ")
	if strings.HasSuffix(before, ",") || before == "" {
		return errLayout
	}
	p.lines[at.Line-1] = before + ", " + e.flow() + line[i:]
	return nil
}

// put inserts lines after the one with that number, indented.
func (p *page) put(after, indent int, lines []string) error {
	for after > 0 && after == len(p.lines) && strings.TrimSpace(p.lines[after-1]) == "" {
		after-- // the file's last line feed stays the last
	}
	shifted := make([]string, len(lines))
	for i, line := range lines {
		shifted[i] = strings.Repeat(" ", indent) + line + p.end
	}
	if after == len(p.lines) { // the last line had no end
		if after > 0 {
			p.lines[after-1] += p.end
		}
		shifted = append(shifted, "")
	}
	p.lines = slices.Insert(p.lines, after, shifted...)
	return nil
}

// blockEnd is the number of the last line of what is under a key at a line and an indentation. Comments
// and blank lines after it are not part of it, unless they are indented further.
func (p *page) blockEnd(line, indent int) int {
	last := line
	for i := line; i < len(p.lines); i++ {
		text := strings.TrimRight(p.lines[i], " \r")
		rest := strings.TrimLeft(text, " ")
		depth := len(text) - len(rest)
		switch {
		case rest == "" || depth <= indent && strings.HasPrefix(rest, "#"):
		case depth > indent, depth == indent && (rest == "-" || strings.HasPrefix(rest, "- ")):
			last = i + 1
		default:
			return last
		}
	}
	return last
}

// blockPairs are the keys of a mapping that is not in braces.
func blockPairs(node ast.Node) (pairs []*ast.MappingValueNode, ok bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, !n.IsFlowStyle && len(n.Values) > 0
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

// itemAt are the keys of the mapping in a list whose path is at.
func itemAt(list *ast.SequenceNode, at string) []*ast.MappingValueNode {
	for _, item := range list.Values {
		pairs, _ := blockPairs(item)
		for _, pair := range pairs {
			if pair.Key.GetToken().Value == "path" && pair.Value.GetToken().Value == at {
				return pairs
			}
		}
	}
	return nil
}

// nested are the lines for the whole way from a mapping, inList those for an entry of the list at its
// beginning.
func nested(way []spot, e entry) []string {
	return append([]string{way[0].key + ":"}, shift("  ", inList(way, e))...)
}

func inList(way []spot, e entry) []string {
	if len(way) == 1 {
		return e.block()
	}
	if way[0].at == "" {
		return nested(way[1:], e)
	}
	lines := []string{"- path: " + scalar(way[0].at)}
	return append(lines, shift("  ", nested(way[1:], e))...)
}

func shift(margin string, lines []string) []string {
	for i := range lines {
		lines[i] = margin + lines[i]
	}
	return lines
}
