package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// Status is what a review led to.
type Status string

// The outcomes.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Error Status = "error" // no answer was had
)

// File is a reviewer's answer as the agent sees it. The agent writes a
// violation's status and result into it, and nothing else.
type File struct {
	Adapter    string      `json:"adapter"`
	Timestamp  time.Time   `json:"timestamp"`
	Status     Status      `json:"status"`
	RawOutput  string      `json:"rawOutput"`
	Violations []Violation `json:"violations"`
}

// Encode is the file's content.
func (f File) Encode() []byte {
	if f.Violations = untraced(f.Violations); f.Violations == nil {
		f.Violations = []Violation{}
	}
	f.Timestamp = f.Timestamp.UTC()
	text, err := rawjson.Lines(f)
	if err != nil {
		panic(err) // strings and a time: only a year beyond 9999 fails
	}
	return bytes.TrimSuffix(text, []byte("\n"))
}

// ParseFile reads a file that the agent has edited. Its error names the field
// that is wrong.
func ParseFile(data []byte) (File, error) {
	if err := validJSON(data); err != nil {
		return File{}, err
	}
	f, err := fieldsOf(data)
	if err != nil {
		return File{}, err
	}

	file := File{
		Adapter:   f.text("adapter", optional),
		Status:    Status(f.word("status", string(Pass), string(Fail), string(Error))),
		RawOutput: f.text("rawOutput", optional),
	}
	if stamp := f.text("timestamp", optional); stamp != "" {
		if file.Timestamp, err = time.Parse(time.RFC3339Nano, stamp); err != nil {
			f.fail("timestamp", errors.New("it is not a valid time"))
		}
	}

	if !f.has("violations") {
		f.fail("violations", errors.New("it is missing"))
	}
	for i, item := range f.list("violations") {
		v, err := parseViolation(item)
		if err != nil {
			f.fail(fmt.Sprintf("violations[%d]", i), err)
		}
		file.Violations = append(file.Violations, v)
	}

	if f.err != nil {
		return File{}, f.err
	}
	return file, nil
}

// parseViolation insists on what ApplyEdits takes. A status that was deleted is
// new; what else is damaged is not for the agent to change, and is not read from
// here.
func parseViolation(data json.RawMessage) (Violation, error) {
	f, err := fieldsOf(data)
	if err != nil {
		return Violation{}, err
	}
	v := Violation{
		ID:       f.text("id", optional),
		File:     f.text("file", optional),
		Line:     f.line("line"),
		Issue:    f.text("issue", optional),
		Fix:      f.text("fix", optional),
		Priority: config.Priority(f.text("priority", optional)),
		Status:   New,
		Result:   f.text("result", optional),
	}
	if f.has("status") {
		v.Status = Standing(f.word("status", string(New), string(Fixed), string(Skipped)))
	}
	return v, f.err
}

// validJSON says where a document breaks off, in an editor's terms.
func validJSON(data []byte) error {
	err := json.Unmarshal(data, new(json.RawMessage))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		return fmt.Errorf("not JSON: line %d: %w", line, err)
	}
	return err
}
