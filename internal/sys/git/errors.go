package git

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNotInstalled means that there is no git on the PATH.
	ErrNotInstalled = errors.New("git is not installed")
	// ErrNotRepository means that git finds no repository at or above the
	// directory.
	ErrNotRepository = errors.New("not a git repository")
	// ErrNoSuchRef means that a name does not lead to a commit.
	ErrNoSuchRef = errors.New("no such ref")
)

// Error is a git command that failed.
type Error struct {
	Command string
	Code    int    // -1: ended by a signal
	Message string // the first line of what git printed
}

func (e *Error) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("git %s: exit %d", e.Command, e.Code)
	}
	return fmt.Sprintf("git %s: %s", e.Command, e.Message)
}

func failure(command string, code int, line string) error {
	message := strings.TrimPrefix(line, "fatal: ")
	if strings.HasPrefix(message, "not a git repository") {
		return fmt.Errorf("git %s: %w", command, ErrNotRepository)
	}
	return &Error{Command: command, Code: code, Message: message}
}

// code is the exit code of the git command that gave err: 0 without an error, and
// -1 if it is none of git's own.
func code(err error) int {
	if err == nil {
		return 0
	}
	if failed := (*Error)(nil); errors.As(err, &failed) {
		return failed.Code
	}
	return -1
}
