package config

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// noLimit is for durations that may be of any length.
	noLimit = time.Duration(math.MaxInt64)
	// longestRun bounds what a gate and a whole run may take. It is there to catch
	// a slip of the pen, not to hurry anybody.
	longestRun = 24 * time.Hour
)

// duration reads a length of time above zero and up to longest.
func duration(longest time.Duration) typeOf[time.Duration] {
	return document.New(
		func(v value, to *time.Duration) bool { return readDuration(v, to, longest) },
		document.Duration,
	)
}

func readDuration(v value, to *time.Duration, longest time.Duration) bool {
	if v.Node.Kind() == document.Integer {
		v.Fault("a duration needs a unit", "write "+oneLine(v.Node.Text())+"s")
		return false
	}
	if !v.Is(document.Text, "a duration such as 90s or 2m", "") {
		return false
	}
	text := v.Node.Text()
	length, err := time.ParseDuration(text)
	switch {
	case err != nil:
		v.Fault(quote(text)+" is not a duration", durationHint(text))
	case length <= 0:
		v.Fault("must be longer than 0s", "")
	case length > longest:
		v.Fault("must be at most "+plain.Duration(longest), "")
	default:
		*to = length
		return true
	}
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

// seconds reads a length of time up to longestRun: a duration, or a plain number
// of seconds.
var seconds = typeOf[time.Duration]{Read: readSeconds, Schema: func() schema {
	return document.AnyOf(document.Duration(), document.Amount(false, int(longestRun/time.Second)).Schema())
}}

func readSeconds(v value, to *time.Duration) bool {
	if kind := v.Node.Kind(); kind != document.Integer && kind != document.Float {
		return readDuration(v, to, longestRun)
	}
	text := v.Node.Text()
	length, ok := parseSeconds(text)
	switch {
	case !ok:
		v.Fault(oneLine(text)+" is not a plain number of seconds above 0", "write it like 90, 90s or 2m")
	case length > longestRun:
		v.Fault("must be at most "+plain.Duration(longestRun), "")
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

// units reads a whole number of minutes, or of another unit.
func units(unit time.Duration, low, high int64) typeOf[time.Duration] {
	return document.Then(integer(low, high), func(_ value, number int64) (time.Duration, bool) {
		return time.Duration(number) * unit, true
	})
}
