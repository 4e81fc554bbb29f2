// Package review has models read a change. It builds the prompt, picks a
// reviewer that can be asked, reads its answer, and knows which violations of
// earlier answers are still open. It keeps nothing but which reviewer has used
// up its quota; what is open is for the caller to remember.
package review

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/digest"
)

// Violation is one thing that a reviewer found.
type Violation struct {
	// ID is the same whenever the same gate finds the same issue in the same file.
	// The line is no part of it: code moves.
	ID       string          `json:"id"`
	File     string          `json:"file"`
	Line     Line            `json:"line,omitzero"`
	Issue    string          `json:"issue"`
	Fix      string          `json:"fix,omitempty"`
	Priority config.Priority `json:"priority"`
	Status   Standing        `json:"status"`
	Result   string          `json:"result,omitempty"` // the agent's words
	// Trace is by what the file's content is known again. It is for our own record, not for
	// the agent or a reviewer.
	Trace string `json:"trace,omitempty"`
}

// untraced are the violations as others see them.
func untraced(violations []Violation) []Violation {
	all := slices.Clone(violations)
	for i := range all {
		all[i].Trace = ""
	}
	return all
}

// Location is the file, with the line where one is known.
func (v Violation) Location() string {
	if v.Line == "" {
		return v.File
	}
	return v.File + ":" + string(v.Line)
}

// Standing is what the agent says about a violation.
type Standing string

const (
	// New violations have not been answered.
	New Standing = "new"
	// Fixed is a claim that a later review verifies.
	Fixed Standing = "fixed"
	// Skipped violations stay as they are, for a reason.
	Skipped Standing = "skipped"
)

// Line is a line number, a range such as 10-12, or empty.
type Line string

// MarshalJSON gives a number where it is one.
func (l Line) MarshalJSON() ([]byte, error) {
	if l.isNumber() {
		return []byte(l), nil
	}
	return json.Marshal(string(l))
}

func (l Line) isNumber() bool {
	return l != "" && len(l) < 10 && l[0] != '0' && strings.Trim(string(l), "0123456789") == ""
}

// UnmarshalJSON takes a number, a string or null.
func (l *Line) UnmarshalJSON(data []byte) error {
	var text string
	if data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
	} else {
		var number json.Number
		if err := json.Unmarshal(data, &number); err != nil {
			return err
		}
		text = number.String()
	}
	*l = Line(strings.TrimSpace(text))
	return nil
}

// fingerprint is the ID of a violation.
func fingerprint(gate, file, issue string) string {
	return digest.Hex(gate + "\x00" + cleanPath(file) + "\x00" + strings.Join(words(issue), " "))[:12]
}

// cleanPath makes the spellings of one path equal.
func cleanPath(file string) string {
	return path.Clean(strings.ReplaceAll(strings.TrimSpace(file), `\`, "/"))
}

// words are what an issue says without case, punctuation and spacing, which a
// model rarely repeats. A text of punctuation alone stands for itself.
func words(issue string) []string {
	fields := strings.FieldsFunc(strings.ToLower(issue), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(fields) == 0 {
		return []string{issue}
	}
	return fields
}
