package cli

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
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitCouldNotRun = 3
	exitInterrupted = 130
)

// silentError fails a command that has said everything already.
type silentError struct{}

func (silentError) Error() string { return "failed" }

// codeError ends a command with an exit code of its own. Without an error inside
// it, everything has been said already.
type codeError struct {
	error
	code int
}

func (e codeError) Unwrap() error { return e.error }

func (e codeError) Error() string {
	if e.error == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.error.Error()
}

// hintError adds a line that says what to do.
type hintError struct {
	error
	hint string
}

// usageError is a command line that cannot be understood.
type usageError struct {
	error
	hint string
}

// tame makes each line of a text plain, and leaves its white space at the beginning.
func tame(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = line[:len(line)-len(rest)] + plain.Line(rest)
	}
	return strings.Join(lines, "\n")
}

// errSilent is a silentError.
var errSilent error = silentError{}

// withCode has an error end the command with that exit code.
func withCode(err error, code int) error { return codeError{err, code} }

// withHint adds a line that says what to do, if there is one.
func withHint(err error, hint string) error {
	if hint == "" {
		return err
	}
	return hintError{err, hint}
}

// badUsage says that the command line cannot be understood.
func badUsage(err error, hint string) error { return usageError{err, hint} }

// explain is what a person is told of an error, in lines, and the exit code.
func explain(err error) (lines []string, code int) {
	var silent silentError
	if err == nil {
		return nil, exitOK
	}
	if errors.As(err, &silent) {
		return nil, exitFailed
	}
	var coded codeError
	if errors.As(err, &coded) && coded.error == nil {
		return nil, coded.code
	}
	lines = []string{"stopgate: " + err.Error()}
	var usage usageError
	if errors.As(err, &usage) {
		return append(lines, usage.hint), exitUsage
	}
	var hinted hintError
	if errors.As(err, &hinted) {
		lines = append(lines, hinted.hint)
	}
	if coded.error != nil {
		return lines, coded.code
	}
	return lines, exitFailed
}

// complain tells a person why a command failed and what to do about it, and returns the exit code.
// What stands in an error may come from anywhere, and must not steer the terminal.
func complain(err error) int {
	lines, code := explain(err)
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, tame(line))
	}
	return code
}
