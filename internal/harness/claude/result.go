package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/record/event"
)

// Result is what Claude Code prints when it has done its work, the end of every
// output format but text.
type Result struct {
	Subtype string
	IsError bool
	Text    string
	// Structured is the answer that meets the schema; nil where the model gave
	// none, which Claude Code does not call an error.
	Structured json.RawMessage
	SessionID  string
	Errors     []string
	Cost       float64 // in US dollars, as Claude Code reckons it
	Usage      Usage
}

// Usage is how many tokens the model read and wrote.
type Usage struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// Spent is what the work cost. A number that makes no sense counts as 0.
func (r *Result) Spent() event.Cost {
	return event.Cost{
		USD:                 r.Cost,
		InputTokens:         r.Usage.Input,
		OutputTokens:        r.Usage.Output,
		CacheReadTokens:     r.Usage.CacheRead,
		CacheCreationTokens: r.Usage.CacheCreation,
	}.Plus(event.Cost{})
}

// ErrNoResult says that the output holds no result.
var ErrNoResult = errors.New("no result in the output of Claude Code")

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

// result is nil for a message of another kind, and for what is none. A field of
// another type than ours is as good as absent: a client that counts differently
// has answered all the same.
func result(m json.RawMessage) *Result {
	// Most lines are none, and tool results are long: look before decoding.
	if !bytes.Contains(m, []byte(`"result"`)) {
		return nil
	}
	var fields map[string]json.RawMessage
	var kind string
	if json.Unmarshal(m, &fields) != nil || json.Unmarshal(fields["type"], &kind) != nil || kind != "result" {
		return nil
	}
	r := &Result{Structured: fields["structured_output"]}
	for name, to := range map[string]any{
		"subtype": &r.Subtype, "is_error": &r.IsError, "session_id": &r.SessionID, "errors": &r.Errors,
		"total_cost_usd": &r.Cost, "usage": &r.Usage,
	} {
		_ = json.Unmarshal(fields[name], to)
	}
	if text := fields["result"]; json.Unmarshal(text, &r.Text) != nil {
		r.Text = string(text)
	}
	if string(r.Structured) == "null" {
		r.Structured = nil
	}
	return r
}

// Err is why the result is no answer; nil if it is one.
func (r Result) Err() error {
	if !r.IsError && (r.Subtype == "" || r.Subtype == "success") && !r.apiError() {
		return nil
	}
	reason := cmp.Or(strings.Join(r.Errors, "; "), strings.TrimSpace(r.Text), "no reason given")
	if r.Subtype == "success" { // so Claude Code calls an error of the model API
		return errors.New(reason)
	}
	return fmt.Errorf("%s: %s", cmp.Or(r.Subtype, "error"), reason)
}

// apiError reports whether the text is what Claude Code says of an error of the model
// API, whether or not it is marked as one.
func (r Result) apiError() bool {
	return r.Structured == nil && strings.HasPrefix(r.Text, "API Error: ")
}
