// Package lazyregexp compiles regular expressions when they are first used. Most calls of a hook
// use none, and compiling all of them took a fifth of its time.
package lazyregexp

import (
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression that is not compiled before it is used. As a variable of a package
// it costs nothing at the start: the compiler lays it out, where a closure would be made.
type Regexp struct {
	patterns []string
	once     sync.Once
	compiled *regexp.Regexp
}

// New matches what one of the patterns does.
func New(patterns ...string) *Regexp { return &Regexp{patterns: patterns} }

// Get compiles the expression at its first call.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.compiled = regexp.MustCompile(strings.Join(r.patterns, "|")) })
	return r.compiled
}
