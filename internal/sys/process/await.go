package process

import (
	"context"
	"errors"
)

// AwaitEnd waits until the process has ended, or the context ends. It takes a file descriptor
// and no thread, so that thousands can be waited for at once. An error that is
// errors.ErrUnsupported says that the system cannot tell: then one has to look now and then.
func (i Identity) AwaitEnd(ctx context.Context) error {
	if i.PID <= 0 {
		return errors.ErrUnsupported
	}
	return awaitEnd(ctx, i.PID, i.Lives)
}
