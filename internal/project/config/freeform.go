package config

import (
	"math"

	"github.com/goccy/go-yaml/ast"
)

// objects reads mappings that hold anything, under names.
var objects = typeOf[map[string]map[string]any]{Read: readObjects, Schema: func() schema {
	object := []string{"object", "null"}
	return schema{"type": object, "additionalProperties": schema{"type": object}}
}}

func readObjects(v value, to *map[string]map[string]any) bool {
	entries, ok := v.Entries()
	*to = make(map[string]map[string]any, len(entries))
	for _, entry := range entries {
		(*to)[entry.Name] = object(entry)
	}
	return ok
}

func object(v value) map[string]any {
	entries, _ := v.Entries()
	object := make(map[string]any, len(entries))
	for _, entry := range entries {
		object[entry.Name] = anything(entry)
	}
	return object
}

// anything reads whatever there is, in types that encoding/json can write. Whole
// numbers stay whole.
func anything(v value) any {
	switch n := v.Node.(node).ast.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.MappingNode, *ast.MappingValueNode:
		return object(v)
	case *ast.SequenceNode:
		items, _ := v.List("")
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = anything(item)
		}
		return list
	case *ast.StringNode, *ast.LiteralNode:
		return v.Node.Text()
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		if !math.IsInf(n.Value, 0) {
			return n.Value
		}
	}
	v.Fault(v.Node.Describe()+" has no place in JSON", "")
	return nil
}
