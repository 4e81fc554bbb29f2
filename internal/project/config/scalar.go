package config

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml/ast"
)

// text reads a string. A number or a boolean is no string: whether 010 is
// eight, ten or itself should not depend on who reads the file.
func (v value) text(to *string) bool {
	switch n := v.node.(type) {
	case *ast.StringNode:
		*to = n.Value
		return true
	case *ast.LiteralNode:
		*to = n.Value.Value
		return true
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		v.wrongType("text", "write "+quote(n.GetToken().Value)+", with quotes")
		return false
	}
	v.wrongType("text", "")
	return false
}

// command reads a shell command, or another text that must say something.
func (v value) command(to *string) bool {
	var text string
	if !v.text(&text) {
		return false
	}
	if strings.TrimSpace(text) == "" {
		v.fault("must not be blank", "")
		return false
	}
	return v.argument(to)
}

// argument reads a text that can be handed to a program.
func (v value) argument(to *string) bool {
	var text string
	if !v.text(&text) {
		return false
	}
	// An escape such as "\0" can bring one in.
	if strings.Contains(text, "\x00") {
		v.fault("must not contain a NUL character", "")
		return false
	}
	*to = text
	return true
}

// glob reads a pattern.
func (v value) glob(to *string) bool {
	var text string
	if !v.text(&text) {
		return false
	}
	if text == "" {
		v.fault("must not be empty", "\"*\" matches everything")
		return false
	}
	if !doublestar.ValidatePattern(text) {
		v.fault(quote(text)+" is not a valid pattern", "check the brackets and braces, and put \\ before one that is meant literally")
		return false
	}
	*to = text
	return true
}

func (v value) boolean(to *bool) bool {
	n, ok := v.node.(*ast.BoolNode)
	if !ok {
		v.wrongType("true or false", "")
		return false
	}
	*to = n.Value
	return true
}

// integer reads a whole number from low to high.
func (v value) integer(to *int64, low, high int64) bool {
	n, ok := v.node.(*ast.IntegerNode)
	if !ok {
		v.wrongType("a whole number", "")
		return false
	}
	number, err := strconv.ParseInt(n.Token.Value, 10, 64)
	// Octal, hexadecimal and grouped numbers mean different things to
	// different readers of YAML.
	if err != nil || strconv.FormatInt(number, 10) != n.Token.Value {
		v.fault(oneLine(n.Token.Value)+" is not a plain decimal number in range", "")
		return false
	}
	if number < low || number > high {
		limits := "at least " + strconv.FormatInt(low, 10)
		if high < math.MaxInt64 {
			limits = "from " + strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
		}
		v.fault("must be "+limits, "")
		return false
	}
	*to = number
	return true
}

// count reads a number of things.
func (v value) count(to *int, low, high int) bool {
	var number int64
	if !v.integer(&number, int64(low), int64(high)) {
		return false
	}
	*to = int(number)
	return true
}

// noLimit is for durations that may be of any length.
const noLimit = time.Duration(math.MaxInt64)

// duration reads a length of time above zero and up to longest.
func (v value) duration(to *time.Duration, longest time.Duration) bool {
	if n, ok := v.node.(*ast.IntegerNode); ok {
		v.fault("a duration needs a unit", "write "+oneLine(n.Token.Value)+"s")
		return false
	}
	var text string
	if !v.durationText(&text) {
		return false
	}
	length, err := time.ParseDuration(text)
	switch {
	case err != nil:
		v.fault(quote(text)+" is not a duration", durationHint(text))
	case length <= 0:
		v.fault("must be longer than 0s", "")
	case length > longest:
		v.fault("must be at most "+ShortDuration(longest), "")
	default:
		*to = length
		return true
	}
	return false
}

func (v value) durationText(to *string) bool {
	if n, ok := v.node.(*ast.StringNode); ok {
		*to = n.Value
		return true
	}
	v.wrongType("a duration such as 90s or 2m", "")
	return false
}

func durationHint(text string) string {
	const hoursPerDay = 24
	days, err := strconv.ParseInt(strings.TrimSuffix(text, "d"), 10, 32)
	switch {
	case err == nil && strings.HasSuffix(text, "d"):
		return "write " + strconv.FormatInt(days*hoursPerDay, 10) + "h"
	case err == nil:
		return "write " + text + "s"
	}
	return "write it like 90s, 2m or 1h30m"
}

// ShortDuration writes 1h0m0s as 1h, in the form that time.ParseDuration reads.
func ShortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// size reads a number of bytes above zero: a plain number, or one with a unit.
func (v value) size(to *int64) bool {
	if _, ok := v.node.(*ast.IntegerNode); ok {
		return v.integer(to, 1, math.MaxInt64)
	}
	n, ok := v.node.(*ast.StringNode)
	if !ok {
		v.wrongType("a size such as 256MiB", "")
		return false
	}
	bytes, ok := parseSize(n.Value)
	if !ok {
		v.fault(quote(n.Value)+" is not a size", "write it like 512KiB, 256MiB or 1GiB, or as a number of bytes")
		return false
	}
	*to = bytes
	return true
}

func parseSize(text string) (int64, bool) {
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		digits, ok := strings.CutSuffix(text, unit)
		if !ok {
			continue
		}
		shift := 10 * (i + 1)
		number, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		return number << shift, err == nil && number > 0 && number <= math.MaxInt64>>shift
	}
	return 0, false
}

// oneOf reads one of a few words.
func oneOf[T ~string](v value, to *T, choices ...T) bool {
	words := make([]string, len(choices))
	for i, choice := range choices {
		words[i] = string(choice)
	}
	n, ok := v.node.(*ast.StringNode)
	if !ok {
		v.wrongType(strings.Join(words, " or "), "")
		return false
	}
	for _, choice := range choices {
		if n.Value == string(choice) {
			*to = choice
			return true
		}
	}
	v.fault("wanted "+strings.Join(words, " or ")+", found "+quote(n.Value), didYouMean(n.Value, words))
	return false
}
