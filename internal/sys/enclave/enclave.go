// Package enclave runs a command that sees given files in place of those of some directories,
// whatever path it takes to them. All other files are those of the machine. Nothing that
// happens outside changes what the command sees there, and what it writes there stays with
// it.
//
// On Linux that is a mount namespace with a small file system of its own over each directory.
// Other systems have nothing like it: Available says why.
package enclave

import (
	"errors"
	"time"
)

// Enclave is what a command sees in place of directories.
type Enclave struct{ Covers []Cover }

// Cover is what it sees in place of one of them, which may be within another.
type Cover struct {
	Dir   string // absolute, without links; it has to exist
	Files []File
	Time  time.Time // of the files' last change, so that make sees the same one each time
}

// File is a file below the directory.
type File struct {
	Path string // slash-separated, relative to it
	Exec bool
	Data []byte
}

// ErrUnavailable means that this system gives no enclave.
var ErrUnavailable = errors.New("cannot create a private mount namespace here")
