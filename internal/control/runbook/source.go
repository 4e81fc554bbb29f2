package runbook

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// maxFaults is more than a person fixes in one go. It bounds the work for a file that is
// wrong everywhere.
const maxFaults = 100

// source is the text of one file, and what was found in it so far.
type source struct {
	path     string
	text     string
	faults   Faults
	warnings Faults
	overflow bool
}

// newSource takes the text without a byte order mark and without carriage returns before
// line feeds: a script with those in it does not run.
func newSource(path string, data []byte) *source {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return &source{path: path, text: string(data)}
}

// span is a part of the text, in bytes.
type span struct{ at, size int }

func (s *source) fault(at span, message, hint string) {
	if len(s.faults) == maxFaults {
		s.overflow = true
		return
	}
	s.faults = append(s.faults, s.newFault(at, message, hint))
}

// warn records something that is valid and was hardly meant.
func (s *source) warn(at span, message, hint string) {
	if len(s.warnings) < maxFaults {
		s.warnings = append(s.warnings, s.newFault(at, message, hint))
	}
}

// faultOfFile is about the file as a whole.
func (s *source) faultOfFile(message, hint string) {
	s.faults = append(s.faults, wholeFile(s.path, message, hint))
}

// wholeFile is a fault of a file as a whole. What a terminal would obey is not in it, nor in
// any other fault.
func wholeFile(path, message, hint string) Fault {
	return Fault{Position: config.Position{File: plain.Line(path)}, Message: plain.Line(message), Hint: plain.Line(hint)}
}

func (s *source) newFault(at span, message, hint string) Fault {
	from := min(at.at, len(s.text))
	start := strings.LastIndexByte(s.text[:from], '\n') + 1
	line, _, _ := strings.Cut(s.text[start:], "\n")
	end := min(start+len(line), from+at.size)
	f := wholeFile(s.path, message, hint)
	f.Line, f.Column = s.line(at), 1+utf8.RuneCountInString(s.text[start:from])
	f.Excerpt = excerpt(line, from-start, max(end-from, 0))
	return f
}

func (s *source) line(at span) int {
	return 1 + strings.Count(s.text[:min(at.at, len(s.text))], "\n")
}

// found is everything that is wrong, in the order of the file; a fault of the file as a
// whole comes last. Agents that two pipelines use are looked at twice, so repetitions go.
func (s *source) found() Faults {
	if s.overflow {
		s.faultOfFile("more than "+strconv.Itoa(maxFaults)+" faults, the rest is not shown", "")
	}
	return inOrder(s.faults)
}

func inOrder(faults Faults) Faults {
	whole := func(f Fault) bool { return f.Line == 0 }
	slices.SortStableFunc(faults, func(a, b Fault) int {
		if whole(a) != whole(b) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(faults)
}

// excerptWidth is how much of a long line is shown on either side of the place.
const excerptWidth = 50

// excerpt is the part of a line around a place and, below it, carets under size bytes of
// it. What a terminal would obey is not shown.
func excerpt(line string, at, size int) string {
	before, marked, after := []rune(line[:at]), []rune(line[at:at+size]), []rune(line[at+size:])
	left, right := "", ""
	if cut := len(before) - excerptWidth; cut > 0 {
		before, left = before[cut:], "…"
	}
	if len(marked) > excerptWidth {
		marked, after, right = marked[:excerptWidth], nil, "…"
	}
	if room := excerptWidth - len(marked); len(after) > room {
		after, right = after[:room], "…"
	}
	carets := strings.Repeat("^", max(1, len(marked)))
	indent := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, left+string(before))
	return left + visible(before) + visible(marked) + visible(after) + right + "\n" + indent + carets
}

func visible(text []rune) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, string(text))
}
