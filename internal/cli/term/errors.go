// Package term is what all commands share of the terminal: errors and exit codes, arguments, printing,
// screens that are drawn again.
package term

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// CodeError ends a command with an exit code of its own. Without an error inside
// it, everything has been said already.
type CodeError struct {
	error
	Code int
	told bool // the person has read it already
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
	Hint  string
	flags bool // it is the flags that were not understood
}

// IsFlagError reports whether flags were not understood, so that none of them may have been set.
func IsFlagError(err error) bool {
	usage, ok := errors.AsType[UsageError](err)
	return ok && usage.flags
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
func WithCode(err error, code int) error { return CodeError{error: err, Code: code} }

// AlreadyTold is WithCode for an error that the person has read already. With --json a program
// still gets it.
func AlreadyTold(err error, code int) error { return CodeError{error: err, Code: code, told: true} }

// Interrupted ends a command that was interrupted before it had a result.
func Interrupted() error { return AlreadyTold(errors.New("interrupted"), ExitInterrupted) }

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
func BadUsage(err error, hint string) error { return UsageError{error: err, Hint: hint} }

// Complaint is why a command failed and what to do about it.
type Complaint struct {
	Message string
	Hint    string
	Code    int
	Name    string // of the program
	told    bool
}

// Explain makes a complaint of an error. Its message is empty where everything has been said.
func Explain(err error) (c Complaint) {
	if err == nil {
		return c
	}
	coded, isCoded := errors.AsType[CodeError](err)
	if isCoded && coded.error == nil {
		return Complaint{Code: coded.Code}
	}

	c = Complaint{Message: err.Error(), Code: ExitFailed, Name: "stopgate", told: coded.told}
	if isCoded {
		c.Code = coded.Code
	}
	if hinted, ok := errors.AsType[HintError](err); ok {
		c.Hint = hinted.Hint
	}
	if usage, ok := errors.AsType[UsageError](err); ok {
		c.Hint, c.Code = usage.Hint, ExitUsage
	}
	return c
}

// Lines are what a person has not read yet.
func (c Complaint) Lines() []string {
	switch {
	case c.Message == "" || c.told:
		return nil
	case c.Hint == "":
		return []string{c.Name + ": " + c.Message}
	}
	return []string{c.Name + ": " + c.Message, c.Hint}
}

// Print tells a person why a command failed and what to do about it, in lines that fit the terminal.
// What stands in an error may come from anywhere, and must not steer the terminal.
func (c Complaint) Print(out io.Writer) {
	width := WidthOf(out)
	for _, line := range c.Lines() {
		for _, part := range Wrap(Tame(line), width) {
			fmt.Fprintln(out, part)
		}
	}
}

// Complain tells a person why a command failed and what to do about it, and returns the exit code.
func Complain(err error) int {
	c := Explain(err)
	c.Print(os.Stderr)
	return c.Code
}

// PrintJSON tells a program why a command failed, on one line: what streams prints it last.
func (c Complaint) PrintJSON(out io.Writer) error {
	text, err := rawjson.Complaint(c.Message, c.Hint, c.Code)
	if err == nil {
		_, err = out.Write(visibleJSON(text))
	}
	return err
}
