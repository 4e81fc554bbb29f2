package config

import (
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// longestRun bounds what a gate and a whole run may take. It is there to catch
// a slip of the pen, not to hurry anybody.
const longestRun = 24 * time.Hour

// seconds reads a length of time up to longestRun: a duration, or a plain number
// of seconds.
func (v value) seconds(to *time.Duration) bool {
	switch v.node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
	default:
		return v.duration(to, longestRun)
	}
	text := v.node.GetToken().Value
	length, ok := parseSeconds(text)
	switch {
	case !ok:
		v.fault(oneLine(text)+" is not a plain number of seconds above 0", "write it like 90, 90s or 2m")
	case length > longestRun:
		v.fault("must be at most "+ShortDuration(longestRun), "")
	default:
		*to = length
		return true
	}
	return false
}

// parseSeconds reads a decimal number of seconds above 0. Other ways to write a
// number mean different things to different readers of YAML.
func parseSeconds(text string) (time.Duration, bool) {
	if strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	length, err := time.ParseDuration(text + "s")
	return length, err == nil && length > 0
}
