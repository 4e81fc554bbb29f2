package config

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// maxFaults is more than a person fixes in one go. It bounds the work for a
// file that is wrong everywhere.
const maxFaults = 100

// source is the text of one file and the faults found in it so far.
type source struct {
	name     string
	text     string
	lines    []string
	faults   []Fault
	count    int // of all that were found, also of those too many to be kept
	overflow bool
	// secrets says that the file may hold tokens, in URLs: what is shown of it is
	// masked. While private is above 0 nothing of it is shown at all.
	secrets bool
	private int
}

// newSource takes the text as YAML sees it: without a byte order mark, and
// with every kind of line end as a line feed.
func newSource(name string, data []byte) *source {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	}
	return &source{name: name, text: string(data)}
}

// span is a part of one line.
type span struct{ line, column, width int }

func (s *source) fault(at span, message, hint string) {
	s.count++
	if len(s.faults) == maxFaults {
		s.overflow = true
		return
	}
	s.faults = append(s.faults, s.newFault(at, message, hint))
}

func (s *source) newFault(at span, message, hint string) Fault {
	f := Fault{Position: s.position(at), Message: message, Hint: hint}
	if s.secrets && s.private == 0 {
		f.Message, f.Hint = masked(message), masked(hint)
	}
	if f.Line > 0 && s.private == 0 {
		f.Excerpt = excerpt(s.shown(f.Line), f.Column, at.width)
	}
	return f
}

// shown is a line as a fault may show it.
func (s *source) shown(number int) string {
	line := s.line(number)
	if !s.secrets {
		return line
	}
	// Something in a list of URLs that is none may still be meant as one.
	const key = "urls:"
	if i := strings.Index(line, key); i >= 0 {
		return masked(line[:i]) + key + asterisks(line[i+len(key):])
	}
	return masked(line)
}

// masked has asterisks in place of what follows the :// of URLs. Places in the text stay
// where they are.
func masked(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "://")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexAny(rest, " \t\"")
		if end < 0 {
			end = len(rest)
		}
		b.WriteString("://" + asterisks(rest[:end]))
		text = rest[end:]
	}
}

func asterisks(text string) string { return strings.Repeat("*", utf8.RuneCountInString(text)) }

// err is nil when there are no faults.
func (s *source) err() error {
	if len(s.faults) == 0 {
		return nil
	}
	all := inFileOrder(s.faults)
	if s.overflow {
		all = append(all, Fault{
			Position: Position{File: s.name},
			Message:  "more than " + strconv.Itoa(maxFaults) + " faults, the rest is not shown",
		})
	}
	return &Faults{All: all}
}

func (s *source) position(at span) Position {
	return Position{File: s.name, Line: at.line, Column: at.column}
}

// line returns a line without its end. Lines past the last are empty.
func (s *source) line(number int) string {
	if s.lines == nil {
		s.lines = strings.Split(s.text, "\n")
	}
	if number < 1 || number > len(s.lines) {
		return ""
	}
	return s.lines[number-1]
}

// spanAt is the place of one byte of the text.
func (s *source) spanAt(offset int) span {
	before := s.text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return span{
		line:   1 + strings.Count(before, "\n"),
		column: 1 + utf8.RuneCountInString(before[start:]),
		width:  1,
	}
}

// spanOf is the place of a token, as far as its first line goes.
//
// The lexer misses a column for each tab between two tokens, and for the space
// after a tag. So where the text is not where the token says, it is the next
// such text to the right.
func (s *source) spanOf(t *token.Token) span {
	line := s.line(t.Position.Line)
	at := span{line: max(t.Position.Line, 1), column: max(t.Position.Column, 1), width: 1}
	// Counting columns is slow in a line that no person wrote.
	const longLine = 10_000
	if len(line) > longLine {
		return at
	}
	skipped := min(at.column-1, utf8.RuneCountInString(line))
	at.column = skipped + 1
	rest := line[byteIndex(line, skipped):]
	written, _, _ := strings.Cut(strings.TrimLeft(t.Origin, " \t\n"), "\n")
	written = strings.TrimRight(written, " \t")
	if i := strings.Index(rest, written); i >= 0 && written != "" {
		at.column += utf8.RuneCountInString(rest[:i])
		at.width = utf8.RuneCountInString(written)
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
