package config

import (
	"math"

	"github.com/goccy/go-yaml/ast"
)

// readObjects reads mappings that hold anything, under names.
func readObjects(v value) map[string]map[string]any {
	entries, _ := v.entries()
	objects := make(map[string]map[string]any, len(entries))
	for _, entry := range entries {
		objects[entry.name] = entry.object()
	}
	return objects
}

func (v value) object() map[string]any {
	entries, _ := v.entries()
	object := make(map[string]any, len(entries))
	for _, entry := range entries {
		object[entry.name] = entry.any()
	}
	return object
}

// any reads whatever there is, in types that encoding/json can write. Whole
// numbers stay whole.
func (v value) any() any {
	switch n := v.node.(type) {
	case nil, *ast.NullNode:
		return nil
	case *ast.MappingNode, *ast.MappingValueNode:
		return v.object()
	case *ast.SequenceNode:
		items, _ := v.list()
		list := make([]any, len(items))
		for i, item := range items {
			list[i] = item.any()
		}
		return list
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		if !math.IsInf(n.Value, 0) {
			return n.Value
		}
	}
	v.fault(describe(v.node)+" has no place in JSON", "")
	return nil
}
