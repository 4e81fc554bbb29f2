// Package rawjson is JSON as text: objects taken apart without reading them, and values written for
// people.
package rawjson

import (
	"bytes"
	"encoding/json"
)

// Member is one key of an object, in the order of the document.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Members takes a JSON object apart. It looks only for where values end, which is much faster than
// reading them: that a text is taken apart does not say that it is valid.
func Members(text []byte) (members []Member, ok bool) {
	text = bytes.Trim(text, space)
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, false
	}

	for text = trimmed(text[1 : len(text)-1]); len(text) > 0; {
		name, rest := cutValue(text)
		if rest = trimmed(rest); len(rest) == 0 || rest[0] != ':' {
			return nil, false
		}
		var m Member
		m.Value, rest = cutValue(trimmed(rest[1:]))
		if m.Name, ok = unquoted(name); !ok || len(m.Value) == 0 {
			return nil, false
		}
		members = append(members, m)

		if text = trimmed(rest); len(text) == 0 {
			break
		}
		if text[0] != ',' {
			return nil, false
		}
		text = trimmed(text[1:])
	}
	return members, true
}

// Map is Members by their names; of duplicates the last counts.
func Map(text []byte) (values map[string]json.RawMessage, ok bool) {
	members, ok := Members(text)
	values = make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		values[m.Name] = m.Value
	}
	return values, ok
}

// Object is the JSON object with these members, in their order.
func Object(members []Member) []byte {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := Marshal(m.Name)
		if err != nil {
			panic(err) // a string always encodes
		}
		text = append(append(append(text, name...), ':'), m.Value...)
	}
	return append(text, '}')
}

const space = " \t\r\n" // the white space of JSON, no other

func trimmed(text []byte) []byte { return bytes.TrimLeft(text, space) }

// cutValue cuts the value at the start of a text off the rest; empty where it does not end.
func cutValue(text []byte) (value, rest []byte) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += closingQuote(text[i:])
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
		if depth == 0 && i < len(text) {
			return text[:i+1], text[i+1:]
		}
	}
	return nil, nil
}

// endsScalar reports whether text[i] is the last character of a number, true, false or null.
func endsScalar(text []byte, i int) bool {
	return i+1 == len(text) || bytes.IndexByte([]byte(space+",:}]"), text[i+1]) >= 0
}

// closingQuote is where the string that a text begins with ends; its length where it does not.
func closingQuote(text []byte) int {
	for end := 1; ; end++ {
		next := bytes.IndexByte(text[end:], '"')
		if next < 0 {
			return len(text)
		}
		end += next
		escapes := 0
		for text[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
	}
}

// unquoted is a string as it was before it was written. Most have nothing to undo, and
// encoding/json takes a tenth of a millisecond to get going.
func unquoted(raw []byte) (s string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}
