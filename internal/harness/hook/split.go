package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// split takes a JSON object apart without interpreting its values.
func split(data []byte) ([]rawjson.Member, error) {
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
	members, ok := rawjson.Members(text)
	if !ok {
		return nil, errors.New("it was not understood") // it is a valid object: that does not happen
	}
	return members, nil
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
