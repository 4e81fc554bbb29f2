package errand

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// grace is how long a command that was asked to end may take to do so.
const grace = 5 * time.Second

// Kill ends the errand and everything that it started, and returns when it has ended:
// within some seconds, or when the context ends. One that has not begun never will.
func Kill(ctx context.Context, dir string) error {
	return directory(dir).kill(ctx, grace+3*time.Second)
}

// kill asks the runner to end the command and, when that takes longer than patience,
// ends both.
func (d directory) kill(ctx context.Context, patience time.Duration) error {
	if _, err := os.Stat(string(d)); errors.Is(err, fs.ErrNotExist) {
		return nil // it was never started
	}
	if d.has("exit.json") && !d.runner().Lives() {
		return nil
	}
	// First: a runner that is about to begin looks for it. One that has begun is asked in
	// any case, also when the disk is full.
	if err := d.wantKill(); err != nil && !d.has("begun") {
		return err
	}
	asked, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := d.end(asked, askRunner)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = d.end(ctx, (*os.Process).Kill)
	}
	return err
}

func (d directory) wantKill() error {
	f, err := os.OpenFile(d.path("kill"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// end tells the runner, if there is one, to end, and waits until there is none.
func (d directory) end(ctx context.Context, tell func(*os.Process) error) error {
	lock, err := d.take()
	if errors.Is(err, errBusy) {
		d.tellRunner(tell)
		lock, err = d.awaitFree(ctx)
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if d.has("exit.json") {
		return nil
	}
	d.endLeft()
	return d.killed(time.Now())
}

// tellRunner has a hold of the process before it looks whether it is the runner, so that
// no other gets what was meant for it.
func (d directory) tellRunner(tell func(*os.Process) error) {
	runner := d.runner()
	if runner.PID <= 1 {
		return
	}
	p, err := os.FindProcess(runner.PID)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if runner.Lives() {
		_ = tell(p) // one that has ended needs no telling
	}
}
