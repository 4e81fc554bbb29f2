package config

import (
	"strconv"

	"github.com/goccy/go-yaml/token"
)

// The parser keeps the full path of every node, takes quadratic time for the
// keys of one mapping, and recurses. These bounds hold it to half a second and
// 200 MB for the worst files that we could make; what a person writes stays far
// below them.
const (
	maxTokens    = 20_000
	maxDepth     = 100
	maxKeyLength = 128
)

// tokenCheck looks at the tokens of a file, one after the other, before the
// parser sees them.
type tokenCheck struct {
	count   int
	flow    int   // how many [ and { are open
	columns []int // where the open blocks start
	started bool  // the document has begun
	ended   bool  // the document was ended by ...
}

// checkTokens refuses what the parser could choke on, and what YAML has but a
// configuration file has no use for.
func (d *decoder) checkTokens(tokens token.Tokens) bool {
	var check tokenCheck
	for _, t := range tokens {
		if t.Type == token.InvalidType {
			return true // the parser has the words for it
		}
		if t.Type == token.CommentType {
			continue
		}
		if message := check.next(t); message != "" {
			d.Fault(mark{d, t}, message, "")
			return false
		}
		if message, hint := misread(t); message != "" {
			d.Fault(mark{d, t}, message, hint)
			if t.Type == token.DoubleQuoteType {
				return false // the tokens after it are off by some characters
			}
		}
	}
	return true
}

// next returns what is wrong with a token, or "".
func (c *tokenCheck) next(t *token.Token) string {
	if c.count++; c.count > maxTokens {
		return "the file is too large: more than " + strconv.Itoa(maxTokens) + " keys, values and other tokens"
	}
	if message := c.document(t); message != "" {
		return message
	}

	switch t.Type {
	case token.DirectiveType:
		return "YAML directives are not supported"
	case token.MappingKeyType:
		return "keys written with ? are not supported"
	case token.MappingStartType, token.SequenceStartType:
		c.flow++
	case token.MappingEndType, token.SequenceEndType:
		c.flow--
	case token.SequenceEntryType:
		if c.flow > 0 {
			return "an entry with - is not allowed inside [ ] or { }"
		}
		c.block(t.Position.Column)
	case token.MappingValueType:
		if t.Prev == nil {
			break
		}
		if len(t.Prev.Value) > maxKeyLength {
			return "a key is longer than " + strconv.Itoa(maxKeyLength) + " bytes"
		}
		c.block(t.Prev.Position.Column)
	}

	if c.flow+len(c.columns) > maxDepth {
		return "nested more than " + strconv.Itoa(maxDepth) + " deep"
	}
	return ""
}

// document sees to it that there is one document only.
func (c *tokenCheck) document(t *token.Token) string {
	const second = "a second YAML document is not allowed"
	switch t.Type {
	case token.DocumentEndType:
		c.ended = true
		return ""
	case token.DocumentHeaderType:
		if c.started {
			return second
		}
	}
	if c.ended {
		return second
	}
	c.started = true
	return ""
}

// block notes that a block collection has an entry at a column: it is inside
// those that start further left.
func (c *tokenCheck) block(column int) {
	if c.flow > 0 {
		return
	}
	open := len(c.columns)
	for open > 0 && c.columns[open-1] >= column {
		open--
	}
	c.columns = append(c.columns[:open], column)
}
