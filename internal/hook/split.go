package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// member is one key of the payload's object, in the order of the document.
type member struct {
	name  string
	value json.RawMessage
}

// split takes a JSON object apart without interpreting its values.
func split(data []byte) ([]member, error) {
	text := bytes.Trim(data, " \t\r\n") // the white space of JSON, no other
	if len(text) == 0 {
		return nil, errors.New("it is empty")
	}
	if !utf8.Valid(text) {
		return nil, errors.New("it is not valid UTF-8")
	}
	if !json.Valid(text) {
		return nil, notJSON(text)
	}
	if text[0] != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	return members(text[1 : len(text)-1])
}

// members reads what is between the braces of a valid object.
func members(text []byte) ([]member, error) {
	var out []member
	for text = skipSpace(text); len(text) > 0; text = skipSpace(text) {
		name, rest := value(text)
		rest = skipSpace(rest)[1:] // the colon
		raw, rest := value(skipSpace(rest))
		var m member
		if err := assign(&m.name, name); err != nil {
			return nil, err
		}
		m.value = raw
		out = append(out, m)
		if text = skipSpace(rest); len(text) > 0 {
			text = text[1:] // the comma
		}
	}
	return out, nil
}

func skipSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// value cuts the value at the start of valid JSON off the rest.
func value(text []byte) (value, rest json.RawMessage) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = closingQuote(text, i)
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 || !endsScalar(text, i) {
				continue
			}
		}
		if depth == 0 {
			return text[:i+1], text[i+1:]
		}
	}
	return text, nil
}

// endsScalar reports whether text[i] is the last character of a number, true,
// false or null.
func endsScalar(text []byte, i int) bool {
	return i+1 == len(text) || bytes.IndexByte([]byte(" \t\r\n,:}]"), text[i+1]) >= 0
}

// closingQuote is where the string that begins at text[start] ends.
func closingQuote(text []byte, start int) int {
	for i := start + 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
}

// notJSON says what is wrong with a document that is not valid.
func notJSON(text []byte) error {
	err := json.Unmarshal(text, new(json.RawMessage))
	switch {
	case err == nil:
		return errors.New("it is not valid JSON")
	case strings.Contains(err.Error(), "unexpected end"):
		return errors.New("it is not valid JSON: it ends in the middle")
	case strings.Contains(err.Error(), "after top-level value"):
		return errors.New("something follows the JSON object")
	}
	return fmt.Errorf("it is not valid JSON: %w", err)
}
