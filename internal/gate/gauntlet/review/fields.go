package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// fields takes the members of a JSON object one by one and remembers the first
// thing that is wrong. Decoding into a struct would take Status for status, and
// null for a value.
type fields struct {
	members map[string]json.RawMessage
	err     error
}

func fieldsOf(data []byte) (*fields, error) {
	f := &fields{}
	if err := json.Unmarshal(data, &f.members); err != nil || f.members == nil {
		return nil, errors.New("it is not an object")
	}
	return f, nil
}

func (f *fields) fail(name string, err error) {
	if f.err == nil {
		f.err = fmt.Errorf("%s: %w", name, err)
	}
}

// has reports whether the member is there and not null.
func (f *fields) has(name string) bool {
	value, ok := f.members[name]
	return ok && string(value) != "null"
}

const (
	optional = false
	required = true
)

// text is a string; a required one is not blank.
func (f *fields) text(name string, need bool) string {
	var text string
	switch {
	case !f.has(name):
		if need {
			f.fail(name, errors.New("it is missing"))
		}
	case json.Unmarshal(f.members[name], &text) != nil:
		f.fail(name, errors.New("it is not a string"))
	case need && strings.Trim(text, " \t\r\n") == "":
		f.fail(name, errors.New("it is empty"))
	}
	return text
}

// word is one of the given strings.
func (f *fields) word(name string, words ...string) string {
	text := f.text(name, required)
	if f.err == nil && !slices.Contains(words, text) {
		f.fail(name, fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", ")))
	}
	return text
}

func (f *fields) line(name string) Line {
	var line Line
	if f.has(name) && json.Unmarshal(f.members[name], &line) != nil {
		f.fail(name, errors.New("it is not a number or a string"))
	}
	return line
}

func (f *fields) list(name string) []json.RawMessage {
	var list []json.RawMessage
	if f.has(name) && json.Unmarshal(f.members[name], &list) != nil {
		f.fail(name, errors.New("it is not a list"))
	}
	return list
}
