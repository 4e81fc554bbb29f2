package launch

import (
	"errors"
	"fmt"
	"strings"
)

// expand replaces $NAME and ${NAME} in a value. $$ is a dollar sign, and so is one
// that begins no name. An error names the variable and never the value.
func expand(value string, lookup func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(value, "$")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if rest, ok := strings.CutPrefix(after, "$"); ok {
			b.WriteByte('$')
			value = rest
			continue
		}

		name, rest, err := reference(after)
		if err != nil {
			return "", err
		}
		value = rest
		if name == "" {
			b.WriteByte('$')
			continue
		}

		text, ok := lookup(name)
		if !ok {
			return "", fmt.Errorf("the variable %s is not set", name)
		}
		b.WriteString(text)
	}
}

// reference reads the name behind a dollar sign; "" where there is none.
func reference(text string) (name, rest string, err error) {
	if braced, ok := strings.CutPrefix(text, "{"); ok {
		name, rest, closed := strings.Cut(braced, "}")
		if !closed || name == "" || nameLength(name) != len(name) {
			return "", "", errors.New("${ must be followed by a name and }; write $$ for a dollar sign")
		}
		return name, rest, nil
	}
	n := nameLength(text)
	return text[:n], text[n:], nil
}

// nameLength is how much of the text is the name of a variable.
func nameLength(text string) int {
	for i := range len(text) {
		c := text[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || '9' < c) {
			return i
		}
	}
	return len(text)
}

// literal writes a value so that expand gives it back.
func literal(value string) string { return strings.ReplaceAll(value, "$", "$$") }
