package review

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/project/config"
)

// Answer is what a reviewer said.
type Answer struct {
	Pass       bool
	Message    string
	Violations []Violation
}

// answerSchema is the JSON Schema of an answer. The decoder here takes exactly
// the documents that it takes.
//
//go:embed schema/answer.json
var answerSchema string

// maxAnswer bounds one answer. What it says is kept, shown to the agent and sent
// to the next reviewer.
const maxAnswer = 1 << 20

// ParseAnswer finds the answer in what a reviewer printed. Models talk before
// and after it, put it in a fence, or quote others: the last object that is an
// answer is the one that was meant. previous are the violations that the
// reviewer was told of; one that it names again keeps its ID.
func ParseAnswer(gate string, output []byte, previous []Violation) (Answer, error) {
	err := errors.New("no JSON object in the output")
	for _, object := range slices.Backward(objects(output)) {
		doc, objectErr := decodeAnswer(object)
		if objectErr == nil {
			return doc.answer(gate, previous)
		}
		err = fmt.Errorf("no answer in the output; the first JSON object in it: %w", objectErr)
	}
	return Answer{}, err
}

// document is an answer as it is written.
type document struct {
	status     string
	message    string
	violations []finding
}

type finding struct {
	id, file, issue, fix string
	line                 Line
	priority             config.Priority
}

func decodeAnswer(data []byte) (document, error) {
	if len(data) > maxAnswer {
		return document{}, fmt.Errorf("it is larger than %d bytes", maxAnswer)
	}
	f, err := fieldsOf(data)
	if err != nil {
		return document{}, err
	}
	doc := document{
		status:  f.word("status", "pass", "fail"),
		message: f.text("message", optional),
	}
	for i, item := range f.list("violations") {
		found, err := decodeFinding(item)
		if err != nil {
			f.fail(fmt.Sprintf("violations[%d]", i), err)
		}
		doc.violations = append(doc.violations, found)
	}
	return doc, f.err
}

func decodeFinding(data json.RawMessage) (finding, error) {
	f, err := fieldsOf(data)
	if err != nil {
		return finding{}, err
	}
	found := finding{
		id:    f.text("id", optional),
		file:  f.text("file", required),
		issue: f.text("issue", required),
		fix:   f.text("fix", optional),
		line:  f.line("line"),
	}
	f.text("status", optional) // always new, whatever it says
	found.priority = config.High
	if f.has("priority") {
		found.priority = config.Priority(f.word("priority", priorities...))
	}
	return found, f.err
}

var priorities = []string{string(config.Critical), string(config.High), string(config.Medium), string(config.Low)}

// answer takes the document at its word. A failure without a reason is still a
// failure; a pass that names violations is neither.
func (d document) answer(gate string, previous []Violation) (Answer, error) {
	a := Answer{Pass: d.status == "pass", Message: printable(d.message)}
	switch {
	case a.Pass && len(d.violations) > 0:
		return Answer{}, errors.New("the answer is pass, but it has violations")
	case !a.Pass && len(d.violations) == 0:
		issue := d.message
		if strings.TrimSpace(issue) == "" {
			issue = "The reviewer rejected the change without giving a reason."
		}
		d.violations = []finding{{file: "unknown", issue: issue, priority: config.High}}
	}
	for _, f := range d.violations {
		a.Violations = append(a.Violations, f.violation(gate, previous))
	}
	return a, nil
}

func (f finding) violation(gate string, previous []Violation) Violation {
	v := Violation{
		ID:   fingerprint(gate, f.file, f.issue),
		File: printable(cleanPath(f.file)), Line: Line(printable(string(f.line))),
		Issue: printable(f.issue), Fix: printable(f.fix),
		Priority: f.priority, Status: New,
	}
	// A reviewer may take an ID from anywhere; it counts only with its own file.
	known := func(p Violation) bool { return p.ID == f.id && cleanPath(p.File) == cleanPath(f.file) }
	if slices.ContainsFunc(previous, known) {
		v.ID = f.id
	}
	return v
}

// printable leaves out control characters, which would reach a terminal.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text))
}
