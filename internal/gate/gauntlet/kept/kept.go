// Package kept is where the logs of gates stay for people: in the state directory, under names that are
// used once. A project's own log directory uses its names again.
package kept

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

const (
	// tailSize is how much of a log's end is looked at.
	tailSize = 32 << 10
	// maxFindings bounds the file of what a review found.
	maxFindings = 1 << 20
)

// Dir is where the logs of all projects are, each in a folder of its project.
func Dir(stateDir string) string { return filepath.Join(stateDir, "logs", "gates") }

// FindingsOf is the file beside a review's log that says what was open after the review.
func FindingsOf(log string) string { return strings.TrimSuffix(log, ".log") + ".json" }

// ErrForeign means that a path is not one of a log that is kept here. The journal names paths, and
// a program that can write to it must not choose what people are shown.
var ErrForeign = errors.New("not one of the logs that are kept")

// check takes the paths of logs that are kept, and no others.
func check(stateDir, log string) error {
	within, err := filepath.Rel(Dir(stateDir), log)
	if err != nil || !filepath.IsLocal(within) || strings.Count(filepath.ToSlash(within), "/") != 1 || filepath.Ext(within) != ".log" {
		return fmt.Errorf("%s: %w", plain.Cut(plain.Line(log), 200), ErrForeign)
	}
	return nil
}

// Tail is the last lines of a log that is kept.
func Tail(stateDir, log string, most int) ([]string, error) {
	if err := check(stateDir, log); err != nil {
		return nil, err
	}
	return end(log, most)
}

// end is the last lines of a file, made harmless. A gate can have put anything in the place of its log,
// and what it printed may be anything.
func end(path string, most int) ([]string, error) {
	text, _, err := regular.TailNoFollow(path, tailSize)
	if err != nil {
		return nil, err
	}
	printed := strings.TrimRight(string(text), "\r\n \t")
	if printed == "" {
		return nil, nil
	}
	return strings.Split(plain.Text(plain.LastLines(printed, most)), "\n"), nil
}

// Findings are what was open after the review with that log. There are none where the file is not there.
func Findings(stateDir, log string) ([]review.Violation, error) {
	if err := check(stateDir, log); err != nil {
		return nil, err
	}
	text, err := regular.ReadNoFollow(FindingsOf(log), maxFindings)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := review.ParseFile(text)
	return found.Violations, err
}

// Trouble is why a log cannot be shown, for people.
func Trouble(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "gone: logs are kept for 30 days"
	}
	return "cannot be read: " + plain.Line(err.Error())
}
