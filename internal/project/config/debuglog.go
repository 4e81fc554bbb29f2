package config

import (
	"math"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

const (
	defaultDebugLogSize = 10 << 20
	maxDebugLogMB       = 1 << 20 // 1 TiB
)

// readDebugLog reads one place's settings. A section that does not say enabled
// says no, as the older tool had it.
func readDebugLog(v value, to *DebugLog) {
	if _, empty := v.node.(*ast.NullNode); empty {
		return
	}
	to.Enabled = new(false)
	v.mapping(
		field{key: "enabled", read: optional(&to.Enabled, value.boolean)},
		field{key: "max_size_mb", read: into(&to.MaxSize, value.megabytes)},
	)
}

// megabytes reads a number of MiB above 0, not always a whole one.
func (v value) megabytes(to *int64) bool {
	switch v.node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		v.wrongType("a number", "")
		return false
	}
	number, err := strconv.ParseFloat(v.node.GetToken().Value, 64)
	if err != nil || !(number > 0) || number > maxDebugLogMB {
		v.fault("must be a number above 0 and at most "+strconv.Itoa(maxDebugLogMB), "")
		return false
	}
	*to = int64(math.Ceil(number * (1 << 20)))
	return true
}

// ResolveDebugLog says what holds: what the project says, then what the global
// config says, then no log and 10 MiB.
func ResolveDebugLog(project, global DebugLog) (enabled bool, maxSize int64) {
	for _, size := range []int64{project.MaxSize, global.MaxSize, defaultDebugLogSize} {
		if size > 0 {
			maxSize = size
			break
		}
	}
	return *firstSet(project.Enabled, global.Enabled, new(false)), maxSize
}
