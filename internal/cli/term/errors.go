// Package term is what all commands share of the terminal: errors and exit codes, arguments, printing,
// screens that are drawn again.
package term

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// The exit codes. What the client calls never uses exitUsage: to it 2 means
// block.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitCouldNotRun = 3
	ExitInterrupted = 130
)

// CodeError ends a command with an exit code of its own. Without an error inside
// it, everything has been said already.
type CodeError struct {
	error
	Code int
}

func (e CodeError) Unwrap() error { return e.error }

func (e CodeError) Error() string {
	if e.error == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.error.Error()
}

// HintError adds a line that says what to do.
type HintError struct {
	error
	Hint string
}

// UsageError is a command line that cannot be understood.
type UsageError struct {
	error
	Hint string
}

// Tame makes each line of a text plain, and leaves its white space at the beginning.
func Tame(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = line[:len(line)-len(rest)] + plain.Line(rest)
	}
	return strings.Join(lines, "\n")
}

// ErrSilent fails a command that has said everything already.
var ErrSilent = WithCode(nil, ExitFailed)

// WithCode has an error end the command with that exit code.
func WithCode(err error, code int) error { return CodeError{err, code} }

// WithHint adds a line that says what to do, if there is one.
func WithHint(err error, hint string) error {
	if hint == "" {
		return err
	}
	return HintError{err, hint}
}

// CannotRun ends a command that could not run, with a line that says what to do, if there is one.
func CannotRun(err error, hint string) error { return WithCode(WithHint(err, hint), ExitCouldNotRun) }

// BadUsage says that the command line cannot be understood.
func BadUsage(err error, hint string) error { return UsageError{err, hint} }

// Explain is what a person is told of an error, in lines, and the exit code.
func Explain(err error) (lines []string, code int) {
	if err == nil {
		return nil, ExitOK
	}
	coded, isCoded := errors.AsType[CodeError](err)
	if isCoded && coded.error == nil {
		return nil, coded.Code
	}

	lines = []string{"stopgate: " + err.Error()}
	if usage, ok := errors.AsType[UsageError](err); ok {
		return append(lines, usage.Hint), ExitUsage
	}
	if hinted, ok := errors.AsType[HintError](err); ok {
		lines = append(lines, hinted.Hint)
	}
	if isCoded {
		return lines, coded.Code
	}
	return lines, ExitFailed
}

// Complain tells a person why a command failed and what to do about it, and returns the exit code.
// What stands in an error may come from anywhere, and must not steer the terminal.
func Complain(err error) int {
	lines, code := Explain(err)
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, Tame(line))
	}
	return code
}
