package config

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/sys/lazyregexp"
)

// entry is an entry of a list that is added to a file: keys with their values, which are text, lists of
// text, flags and numbers.
type entry []pair

type pair struct {
	key   string
	value any
}

// block is the entry as lines that begin with "- ".
func (e entry) block() (lines []string) {
	for i, p := range e {
		margin := "  "
		if i == 0 {
			margin = "- "
		}
		text, isText := p.value.(string)
		if !isText || !isProse(text) {
			lines = append(lines, margin+p.key+": "+scalar(p.value))
			continue
		}
		lines = append(lines, margin+p.key+": |-")
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, "    "+line)
		}
	}
	return lines
}

// flow is the entry on one line, for a list in brackets.
func (e entry) flow() string {
	parts := make([]string, len(e))
	for i, p := range e {
		parts[i] = p.key + ": " + quotedText(p.value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// isProse reports whether a text of several lines can be written as it is.
func isProse(text string) bool {
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		if line == "" || strings.TrimSpace(line) != line || strings.ContainsFunc(line, unicode.IsControl) || strings.ContainsAny(line, "\ufeff\u2028\u2029") {
			return false
		}
	}
	return len(lines) > 1
}

// plainText is text that needs no quotes: no word of YAML, no number, and nothing that ends it.
var plainText = lazyregexp.New(`^[A-Za-z./][A-Za-z0-9_./=+@-]*( [A-Za-z0-9_./=+@&|-]+)*$`)

func scalar(value any) string {
	text, isText := value.(string)
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan":
		return quotedText(value)
	}
	if isText && plainText.Get().MatchString(text) {
		return text
	}
	return quotedText(value)
}

// quotedText is JSON, which is YAML too, without the escapes that are for web pages.
func quotedText(value any) string {
	if list, ok := value.([]string); ok {
		parts := make([]string, len(list))
		for i, text := range list {
			parts[i] = quotedText(text)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // text, lists of text, flags and numbers can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
