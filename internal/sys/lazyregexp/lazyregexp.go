// Package lazyregexp compiles regular expressions when they are first used. Most calls of a hook
// use none, and compiling all of them took a fifth of its time.
package lazyregexp

import (
	"regexp"
	"strings"
	"sync"
)

// Any matches what one of the patterns does.
func Any(patterns ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(patterns, "|")) })
}

// New compiles the pattern at the first call of what it returns.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
