package document

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// maxFaults is more than a person fixes in one go. It bounds the work for a
// file that is wrong everywhere.
const maxFaults = 100

// Source is the text of one file, and what was found in it so far.
type Source struct {
	Dialect
	Name string // for messages
	Text string
	// Secrets says that the file may hold tokens, in URLs: what is shown of it is
	// masked. While Private is above 0 nothing of it is shown at all.
	Secrets bool
	Private int
	// Count is the number of all faults, also of those too many to be kept.
	Count int

	lines            []string
	faults, warnings All
	overflow         bool
}

// NewSource takes a text without its byte order mark, and with line feeds alone at the
// ends of its lines.
func NewSource(name string, data []byte, dialect Dialect) *Source {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return &Source{Dialect: dialect, Name: name, Text: string(data)}
}

// Place is where something is written.
type Place interface{ Span() Span }

// Span is a part of one line. The zero Span is the file as a whole.
type Span struct{ Line, Column, Width int }

// Span makes a Place of it.
func (s Span) Span() Span { return s }

// Fault records that something is wrong.
func (s *Source) Fault(at Place, message, hint string) {
	s.Count++
	if len(s.faults) >= maxFaults && at != Place(Span{}) { // to find the line of each of a million would take for ever
		s.overflow = true
		return
	}
	s.faults = append(s.faults, s.NewFault(at, message, hint))
}

// Warn records something that is valid and was hardly meant.
func (s *Source) Warn(at Place, message, hint string) {
	if len(s.warnings) < maxFaults {
		s.warnings = append(s.warnings, s.NewFault(at, message, hint))
	}
}

// Unknown records a word that is none of the valid ones.
func (s *Source) Unknown(what, word string, at Place, valid []string) {
	s.Fault(at, "unknown "+what+" "+s.Quote(word), OrValid(what, word, valid))
}

// NewFault is a fault that is not on record. What a terminal would obey is not in it.
func (s *Source) NewFault(at Place, message, hint string) Fault {
	span := at.Span()
	f := Fault{Position: s.Position(span), Message: plain.Line(message), Hint: plain.Line(hint)}
	if s.Secrets && s.Private == 0 {
		f.Message, f.Hint = masked(f.Message), masked(f.Hint)
	}
	if f.Line > 0 && s.Private == 0 {
		f.Excerpt = excerpt(s.shown(f.Line), f.Column, span.Width)
	}
	return f
}

// shown is a line as a fault may show it.
func (s *Source) shown(number int) string {
	line := s.Line(number)
	if !s.Secrets {
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

// Overflows reports whether there are more faults than are kept.
func (s *Source) Overflows() bool { return s.overflow }

// Faults are what is wrong, in the order of the file.
func (s *Source) Faults() All {
	all := InOrder(s.faults)
	if s.overflow {
		all = append(all, OfFile(s.Name, "more than "+strconv.Itoa(maxFaults)+" errors, the rest is not shown", ""))
	}
	return all
}

// Warnings are what was hardly meant, in the order of the file.
func (s *Source) Warnings() All { return InOrder(s.warnings) }

// Err is nil when there are no faults.
func (s *Source) Err() error {
	if len(s.faults) == 0 {
		return nil
	}
	return &Faults{All: s.Faults()}
}

// Position is a place as people are told it.
func (s *Source) Position(at Place) Position {
	span := at.Span()
	return Position{File: s.Name, Line: span.Line, Column: span.Column}
}

// Line returns a line without its end. Lines past the last are empty.
func (s *Source) Line(number int) string {
	if s.lines == nil {
		s.lines = strings.Split(s.Text, "\n")
	}
	if number < 1 || number > len(s.lines) {
		return ""
	}
	return s.lines[number-1]
}

// SpanAt is the place of some bytes of the text, as far as their first line goes.
func (s *Source) SpanAt(offset, size int) Span {
	offset = min(offset, len(s.Text))
	start := strings.LastIndexByte(s.Text[:offset], '\n') + 1
	line, _, _ := strings.Cut(s.Text[offset:], "\n")
	return Span{
		Line:   1 + strings.Count(s.Text[:offset], "\n"),
		Column: 1 + utf8.RuneCountInString(s.Text[start:offset]),
		Width:  max(1, utf8.RuneCountInString(line[:min(len(line), size)])),
	}
}
