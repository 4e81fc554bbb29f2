package daemonapi

import (
	"errors"
	"fmt"
)

// ErrNotRunning says that no daemon listens on the socket.
var ErrNotRunning = errors.New("the daemon is not running")

// ErrForeign says that the socket is another user's. Nothing was sent.
var ErrForeign = errors.New("the socket belongs to another user")

// ErrCut says that an answer ended before its end: the daemon was killed.
var ErrCut = errors.New("the daemon's answer was cut off")

// ErrAnswer says that what came is no answer of our daemon.
var ErrAnswer = errors.New("the daemon's answer is invalid")

// Error is an answer that is not 2xx.
type Error struct {
	Status int // of HTTP
	Failure
}

func (e *Error) Error() string {
	if e.Failure.Error == "" {
		return fmt.Sprintf("the daemon answered with status %d", e.Status)
	}
	return e.Failure.Error
}

// Code is the code of the Failure that an error is or wraps, "" for every other error.
func Code(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
