package config

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	Model      string // a pattern
	Input      float64
	Output     float64
	CacheRead  *float64 // nil: a tenth of the input's, as is usual
	CacheWrite *float64 // nil: by how long it is kept, as is usual
}

func readPrice(v value, to *Price) bool {
	v.mapping(
		field{key: "model", required: true, read: func(v value) { v.glob(&to.Model) }},
		field{key: "input", required: true, read: func(v value) { v.price(&to.Input) }},
		field{key: "output", required: true, read: func(v value) { v.price(&to.Output) }},
		field{key: "cache_read", read: optional(&to.CacheRead, value.price)},
		field{key: "cache_write", read: optional(&to.CacheWrite, value.price)},
	)
	return true
}

// price reads an amount that may be 0.
func (v value) price(to *float64) bool {
	switch v.node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		v.wrongType("a number", "")
		return false
	}
	amount, err := strconv.ParseFloat(v.node.GetToken().Value, 64)
	if err != nil || !(amount >= 0) || amount > mostCost {
		v.fault("must be a number from 0 to "+strconv.Itoa(mostCost), "")
		return false
	}
	*to = amount
	return true
}
