//go:build !linux

package enclave

import "os/exec"

// Available reports why there can be no enclave.
func Available() error { return ErrUnavailable }

// AsUser reports that none needs a user namespace.
func AsUser() bool { return false }

// Entry is a command on its way into an enclave.
type Entry struct{}

// Enter fails.
func (*Enclave) Enter(*exec.Cmd) (*Entry, error) { return nil, ErrUnavailable }

// Started has nothing to close.
func (*Entry) Started() {}

// Fault is not asked, as no command gets that far.
func (*Entry) Fault() error { return nil }

// Watch sees nothing.
type Watch struct{}

// NewWatch fails.
func NewWatch(...string) (*Watch, error) { return nil, ErrUnavailable }

// Close is not asked.
func (*Watch) Close() bool { return false }
