package config

import (
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/project/document"
)

// The lexer takes quadratic time for some texts: half a megabyte of them takes
// minutes, and a hook call must be answered. No person writes these.
const (
	// It copies a whole block scalar for each blank line at its end.
	maxBlankLines = 100
	// It looks at the rest of the line for each tab between double quotes.
	maxTabs = 1000
	// It counts those that follow for each one.
	maxLessThan = 100
)

// checkText refuses what is no text.
func (d *decoder) checkText() bool {
	switch {
	case len(d.Text) > maxFileSize:
		d.Fault(document.Span{}, "is larger than 1 MiB", "")
	case strings.IndexByte(d.Text, 0) >= 0:
		d.Fault(d.SpanAt(strings.IndexByte(d.Text, 0), 1), "a NUL byte is not allowed", "")
	case !utf8.ValidString(d.Text):
		d.Fault(d.SpanAt(invalidUTF8(d.Text), 1), "the text is not UTF-8", "")
	default:
		return true
	}
	return false
}

// checkSpeed refuses text that the lexer is too slow for.
func (d *decoder) checkSpeed() bool {
	at, message := slowText(d.Text)
	if message != "" {
		d.Fault(d.SpanAt(at, 1), message, "")
	}
	return message == ""
}

func invalidUTF8(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return len(text)
}

// slowText finds the line that the lexer would be slow for, and says why.
func slowText(text string) (at int, message string) {
	lessThan := strings.Repeat("<", maxLessThan+1)
	blank := 0
	for at < len(text) {
		line, _, _ := strings.Cut(text[at:], "\n")
		blank++
		if strings.Trim(line, " \t") != "" {
			blank = 0
		}
		switch {
		case blank > maxBlankLines:
			return at, "more than 100 blank lines in a row"
		case strings.Count(line, "\t") > maxTabs:
			return at, "more than 1000 tabs in a line"
		case strings.Contains(line, lessThan):
			return at, "more than 100 < in a row"
		}
		at += len(line) + 1
	}
	return 0, ""
}
