package config

import (
	"strings"

	"github.com/goccy/go-yaml/token"
)

// misread says what the lexer got wrong about a token, and what to write
// instead, or "". It covers the cases in which a command would silently become
// another one; they were found by comparing with a second YAML library
// (goccy/go-yaml v1.19.2 with go.yaml.in/yaml v4.0.0-rc.2).
func misread(t *token.Token) (message, hint string) {
	text := strings.Trim(t.Origin, " \t\n")
	switch {
	case t.Type == token.DoubleQuoteType:
		// For each tab it skips a character behind the closing quote.
		if strings.Contains(text, "\t") {
			return "a tab inside double quotes", "write \\t"
		}
	case t.Indicator != token.NotIndicator, isBlockText(t):
	case strings.Contains(text, "\t"):
		// It drops the tab and makes one word of two.
		return "a tab inside text without quotes", "put the text in quotes, or use spaces"
	case continuesWithDash(text):
		// From that line on it keeps line ends and comments.
		return "a line that begins with - continues the text above it", "use a block: write >- and put the text on the lines below"
	}
	return "", ""
}

// isBlockText reports whether a token is the text of a block scalar. A comment
// may stand between the | and the text.
func isBlockText(t *token.Token) bool {
	header := t.Prev
	if header != nil && header.Type == token.CommentType {
		header = header.Prev
	}
	return header != nil && (header.Type == token.LiteralType || header.Type == token.FoldedType)
}

func continuesWithDash(text string) bool {
	_, rest, more := strings.Cut(text, "\n")
	for more {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		if strings.HasPrefix(strings.TrimLeft(line, " "), "-") {
			return true
		}
	}
	return false
}
