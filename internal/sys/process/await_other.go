//go:build !linux

package process

import (
	"context"
	"errors"
	"os"
)

// awaitEnd would need kqueue or a handle.
func awaitEnd(context.Context, int, func() bool) error { return errors.ErrUnsupported }

// Reap leaves nothing of a child once that has ended. How it ended is lost. It returns at once;
// here it takes a thread.
func Reap(child *os.Process) {
	go func() { _, _ = child.Wait() }()
}
