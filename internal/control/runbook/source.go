package runbook

import (
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

var dialect = document.Dialect{
	Key: "field", Mapping: "a table", After: " ", Want: "must be ", Found: ", not ",
	Longest: longestQuote, AtKey: true,
}

// longestQuote is how much of a word of the file a message shows, in characters.
const longestQuote = 60

func quote(word string) string { return document.Quote(word, longestQuote) }

// source is the text of one file, and what was found in it so far.
type source struct {
	*document.Source
	path string
	// expansions of the shell, ${NAME:-word}, may stand in HCL as they are.
	expansions bool
}

func newSource(path string, data []byte) *source {
	return &source{Source: document.NewSource(plain.Line(path), data, dialect), path: path}
}

// span is a part of the text, in bytes.
type span struct{ at, size int }

// mark is a span of a text.
type mark struct {
	source *source
	span
}

// Span implements document.Place.
func (m mark) Span() document.Span { return m.source.SpanAt(m.at, m.size) }

func (s *source) fault(at span, message, hint string) { s.Fault(mark{s, at}, message, hint) }

func (s *source) warn(at span, message, hint string) { s.Warn(mark{s, at}, message, hint) }

func (s *source) faultOfFile(message string) { s.Fault(document.Span{}, message, "") }

func (s *source) line(at span) int { return mark{s, at}.Span().Line }
