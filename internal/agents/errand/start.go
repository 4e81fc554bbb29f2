package errand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// What a runner says to whoever started it, before it closes its standard output.
const (
	sayBegun  = "begun"
	sayFailed = "failed: " // and why, for good
	sayLater  = "later: "  // and why, for now
)

// Start starts the errand, with the program that is to be its runner, and returns when
// the command runs. It may be called again, also by several at once and by those that
// come after somebody who was killed: an errand that has begun is left alone. A *Failure
// is for good. After another error, unless it is the context's, the command does not run
// and can be started again.
func Start(ctx context.Context, program, dir string, s Spec) error {
	d := directory(dir)
	lock, err := d.prepare(ctx, s)
	if lock == nil || err != nil {
		return err
	}
	defer lock.Close()
	return d.detach(ctx, program, s, lock)
}

// prepare puts on record what is to be run, and gives the lock. Without one there is
// nothing more to do.
func (d directory) prepare(ctx context.Context, s Spec) (lock *os.File, err error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	lock, err = d.claim(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", d, err)
	}
	if lock == nil {
		return nil, d.failure()
	}
	// That it has begun is on record only where the directory is.
	parent := filepath.Dir(string(d))
	err = d.write("spec.json", s)
	if err == nil {
		err = errors.Join(atomicfile.SyncDir(parent), atomicfile.SyncDir(filepath.Dir(parent)))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// check finds what the kernel would refuse.
func (s Spec) check() error {
	if !filepath.IsAbs(s.Dir) {
		return &Failure{fmt.Sprintf("the directory %q is not absolute", s.Dir)}
	}
	if strings.ContainsRune(s.Script+s.Dir+s.Log+strings.Join(s.Env, ""), 0) {
		return &Failure{"the command, its directory or its environment contains a NUL byte"}
	}
	return nil
}

// claim takes the lock of an errand that has not begun; nil is that of one that has.
// Whoever holds the lock of one that has not is about to begin it, or dies of it.
func (d directory) claim(ctx context.Context) (lock *os.File, err error) {
	const patience = 30 * time.Second // with a disk that is slow
	err = soon(ctx, patience, func() (bool, error) {
		if d.begun() {
			return true, nil
		}
		lock, err = d.take()
		switch {
		case errors.Is(err, errBusy):
			return false, nil
		case err == nil && d.begun(): // and ended, since we looked
			err = lock.Close()
			lock = nil
		}
		return true, err
	})
	return lock, err
}

// failure is why the command could not be started, if it could not.
func (d directory) failure() error {
	if r, _, err := d.result(); err == nil && r.Failed != "" {
		return &Failure{r.Failed}
	}
	return nil
}

// detach starts the runner and hears what it says.
func (d directory) detach(ctx context.Context, program string, s Spec, lock *os.File) error {
	ear, mouth, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ear.Close()
	defer mouth.Close()
	cmd := exec.Command(program, "errand", string(d))
	cmd.Dir, cmd.Env, cmd.Stdout = string(d), Outside(s.Env), mouth
	handOver(cmd, lock)
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.E2BIG) {
			return &Failure{"the environment is too large: " + err.Error()}
		}
		return err
	}
	_ = mouth.Close()
	process.Reap(cmd.Process) // how the runner ends, the directory tells
	defer context.AfterFunc(ctx, func() { _ = ear.SetReadDeadline(time.Unix(1, 0)) })()
	said, err := io.ReadAll(io.LimitReader(ear, 64<<10))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return d.heard(string(said), err)
}

func (d directory) heard(said string, err error) error {
	if why, ok := strings.CutPrefix(said, sayFailed); ok {
		return &Failure{why}
	}
	if why, ok := strings.CutPrefix(said, sayLater); ok {
		return errors.New(why)
	}
	if said == sayBegun || d.begun() { // one that was killed just then has begun
		return nil
	}
	return errors.Join(fmt.Errorf("the process that runs %s ended before its command started", d), err)
}

// markVariable is how the descendants of an errand are known, wherever they went.
const markVariable = "STOPGATE_ERRAND="

func (d directory) mark() string { return markVariable + string(d) }

// Outside is an environment without what makes a process part of an errand. What is
// started from within one and shall outlive it needs that: the daemon.
func Outside(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, markVariable) || strings.HasPrefix(entry, "STOPGATE_COMMAND=")
	})
}
