package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Result is what the client prints when it has done its work, the end of every
// output format but text.
type Result struct {
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Text    string `json:"result"`
	// Structured is the answer that meets the schema; nil where the model gave
	// none, which the client does not call an error.
	Structured json.RawMessage `json:"structured_output"`
	SessionID  string          `json:"session_id"`
	Errors     []string        `json:"errors"`
}

// ErrNoResult says that the output holds no result.
var ErrNoResult = errors.New("no result in the client's output")

// ParseResult finds the result in what a client printed: an object for json, a
// list for json and verbose, lines for stream-json. The last one counts.
func ParseResult(stdout []byte) (Result, error) {
	var last *Result
	for _, message := range messages(stdout) {
		if r := result(message); r != nil {
			last = r
		}
	}
	if last == nil {
		return Result{}, ErrNoResult
	}
	return *last, nil
}

func messages(stdout []byte) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(stdout, &list) == nil {
		return list
	}
	if json.Valid(stdout) {
		return []json.RawMessage{stdout}
	}
	for line := range bytes.Lines(stdout) {
		list = append(list, line)
	}
	return list
}

// result is nil for a message of another kind, and for what is none.
func result(m json.RawMessage) *Result {
	// Most lines are none, and tool results are long: look before decoding.
	if !bytes.Contains(m, []byte(`"result"`)) {
		return nil
	}
	var r struct {
		Type string `json:"type"`
		Result
	}
	if json.Unmarshal(m, &r) != nil || r.Type != "result" {
		return nil
	}
	if string(r.Structured) == "null" {
		r.Structured = nil
	}
	return &r.Result
}

// Err is why the result is no answer; nil if it is one.
func (r Result) Err() error {
	if !r.IsError && (r.Subtype == "" || r.Subtype == "success") {
		return nil
	}
	reason := cmp.Or(strings.Join(r.Errors, "; "), strings.TrimSpace(r.Text), "no reason given")
	if r.Subtype == "success" { // so the client calls an error of the model API
		return errors.New(reason)
	}
	return fmt.Errorf("%s: %s", cmp.Or(r.Subtype, "error"), reason)
}
