package config

import (
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"

	"github.com/stopgate/stopgate/internal/project/document"
)

var dialect = document.Dialect{
	Key: "key", Mapping: "a mapping", ListHint: "begin each entry with \"- \"",
	After: ": ", Want: "wanted ", Found: ", found ", Longest: longestQuote,
}

// longestQuote is how much of a text of the file a message shows, in characters.
const longestQuote = 40

func quote(text string) string { return document.Quote(text, longestQuote) }

// newSource takes the text as YAML sees it: with every kind of line end as a line feed.
func newSource(name string, data []byte) *document.Source {
	s := document.NewSource(name, data, dialect)
	s.Text = strings.ReplaceAll(s.Text, "\r", "\n")
	return s
}

// mark is the place of a token.
type mark struct {
	d *decoder
	t *token.Token
}

// Span is the place of the token, as far as its first line goes.
//
// The lexer misses a column for each tab between two tokens, and for the space
// after a tag. So where the text is not where the token says, it is the next
// such text to the right.
func (m mark) Span() document.Span {
	t := m.t
	line := m.d.Line(t.Position.Line)
	at := document.Span{Line: max(t.Position.Line, 1), Column: max(t.Position.Column, 1), Width: 1}
	// Counting columns is slow in a line that no person wrote.
	const longLine = 10_000
	if len(line) > longLine {
		return at
	}
	skipped := min(at.Column-1, utf8.RuneCountInString(line))
	at.Column = skipped + 1
	rest := line[byteIndex(line, skipped):]
	written, _, _ := strings.Cut(strings.TrimLeft(t.Origin, " \t\n"), "\n")
	written = strings.TrimRight(written, " \t")
	if i := strings.Index(rest, written); i >= 0 && written != "" {
		at.Column += utf8.RuneCountInString(rest[:i])
		at.Width = utf8.RuneCountInString(written)
	}
	return at
}

// byteIndex is where the given number of characters ends.
func byteIndex(line string, characters int) int {
	for i := range line {
		if characters == 0 {
			return i
		}
		characters--
	}
	return len(line)
}
