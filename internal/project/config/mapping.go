package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// field is one key that a mapping may have.
type field struct {
	key      string
	required bool
	read     func(value)
}

// mapping reads a mapping whose keys are known. A mapping without content
// counts as an empty one, so that all of it can be commented out.
func (v value) mapping(fields ...field) {
	entries, ok := v.entries()
	if !ok {
		return
	}
	valid := keys(fields)
	present := make([]string, 0, len(entries))
	for _, entry := range entries {
		if i := slices.Index(valid, entry.name); i >= 0 {
			present = append(present, entry.name)
			fields[i].read(entry)
			continue
		}
		v.d.unknown("key", entry.name, entry.key, valid)
		// A key that was misspelt is one fault, not a missing one as well.
		present = append(present, Suggest(entry.name, valid))
	}
	for _, f := range fields {
		if f.required && !slices.Contains(present, f.key) {
			v.d.fault(v.span(), f.key+" is missing", "")
		}
	}
}

func keys(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	return names
}

// unknown records a word that is none of the valid ones.
func (d *decoder) unknown(what, word string, at *token.Token, valid []string) {
	hint := didYouMean(word, valid)
	if hint == "" && len(valid) > 0 {
		hint = "valid " + what + "s: " + strings.Join(valid, ", ")
	}
	d.fault(d.spanOf(at), "unknown "+what+" "+quote(word), hint)
}

func didYouMean(word string, valid []string) string {
	if meant := Suggest(word, valid); meant != "" {
		return "did you mean " + strconv.Quote(meant) + "?"
	}
	return ""
}

// entries returns the values of a mapping under their keys, in the order of
// the file, those that << brings in last.
func (v value) entries() ([]value, bool) {
	switch n := v.node.(type) {
	case nil:
		return nil, false
	case *ast.NullNode:
		return nil, true
	case *ast.MappingNode:
		return v.d.entries(n.Values), true
	case *ast.MappingValueNode:
		return v.d.entries([]*ast.MappingValueNode{n}), true
	}
	v.wrongType("a mapping", "")
	return nil, false
}

func (d *decoder) entries(pairs []*ast.MappingValueNode) []value {
	found := make([]value, 0, len(pairs))
	lines := make(map[string]int, len(pairs))
	var merges []*ast.MappingValueNode
	for _, pair := range pairs {
		key, ok := d.key(pair.Key)
		if !ok {
			continue
		}
		if first, again := lines[key.Value]; again {
			d.fault(d.spanOf(key), "duplicate key "+quote(key.Value), "it is already on line "+strconv.Itoa(first))
			continue
		}
		lines[key.Value] = key.Position.Line
		if pair.Key.IsMergeKey() {
			merges = append(merges, pair)
			continue
		}
		found = append(found, d.value(key.Value, key, pair.Value))
	}
	for _, pair := range merges {
		for _, entry := range d.merged(d.value("<<", start(pair.Key), pair.Value)) {
			if _, have := lines[entry.name]; !have {
				lines[entry.name] = entry.key.Position.Line
				found = append(found, entry)
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
	d.fault(d.spanOf(start(node)), "a key must be a single word", "")
	return nil, false
}

// merged returns what << brings in: the entries of a mapping, or of a list of
// mappings, of which the earlier ones win.
func (d *decoder) merged(v value) []value {
	list, ok := v.node.(*ast.SequenceNode)
	if !ok {
		entries, _ := v.entries()
		return entries
	}
	var all []value
	for _, item := range list.Values {
		entries, _ := d.value("<<", v.key, item).entries()
		all = append(all, entries...)
	}
	return all
}

// list returns the entries of a list. A list without content is empty.
func (v value) list() (items []value, ok bool) {
	switch n := v.node.(type) {
	case *ast.NullNode:
		return nil, true
	case *ast.SequenceNode:
		items = make([]value, len(n.Values))
		for i, item := range n.Values {
			items[i] = v.d.value("entry "+strconv.Itoa(i+1)+" of "+v.name, nil, item)
		}
		return items, true
	case *ast.MappingNode, *ast.MappingValueNode:
		v.wrongType("a list", "begin each entry with \"- \"")
		return nil, false
	}
	v.wrongType("a list", "")
	return nil, false
}
