package errand

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// Terminal reports whether the errand in a directory was started in a terminal.
func Terminal(dir string) bool {
	s, err := directory(dir).spec()
	return err == nil && s.Terminal
}

// StartInTerminal is Start for a command that needs a terminal: launch has one made with
// argv running in it, the runner. It is called while nobody can begin the errand, so that
// it may end a runner that somebody else has launched.
func StartInTerminal(ctx context.Context, program, dir string, s Spec, launch func(ctx context.Context, argv []string) error) error {
	if err := canTerminal(); err != nil {
		return err
	}

	d := directory(dir)
	s.Terminal = true
	lock, err := d.prepare(ctx, s)
	if lock == nil || err != nil {
		return err
	}

	err = d.writeEnviron(s.Env)
	if misplaced := misplaced(s.Dir, nil); misplaced != nil {
		err = &Failure{misplaced.Error()}
	}
	if err == nil {
		err = launch(ctx, []string{program, "errand", "--terminal", dir})
	}
	if err != nil {
		d.forgetEnviron() // which keeps a runner from beginning that was launched after all
		return errors.Join(err, lock.Close())
	}

	if err := lock.Close(); err != nil { // the runner waits for it
		return err
	}
	return d.listen(ctx, 30*time.Second)
}

// listen waits until the runner in the terminal has said whether the command runs. One
// that says nothing may no longer begin.
func (d directory) listen(ctx context.Context, patience time.Duration) error {
	err := soon(ctx, patience, d.word)
	if !errors.Is(err, errBusy) {
		return err
	}
	lock, err := d.take()
	if err == nil {
		defer lock.Close()
	}
	if d.begun() {
		return d.failure()
	}
	d.forgetEnviron()
	return errors.Join(fmt.Errorf("the process that runs %s did not start in its terminal within %v", d, patience), err)
}

// word is what the runner has said, once it has said something or never will.
func (d directory) word() (heard bool, err error) {
	said, err := os.ReadFile(d.path("said"))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return true, err
	case d.begun() && (err == nil || !Runs(string(d))):
		return true, d.failure()
	case err == nil:
		return true, d.heard(string(said), nil)
	}
	return false, nil
}

// errNoTerminal is why a runner does not begin that another one has taken the place of.
var errNoTerminal = errors.New("the command has no terminal")

// errHungUp is a terminal that went away just when the command was to have it.
var errHungUp = errors.New("cannot give the terminal to the command")

// note is a runner's mouth where nobody can listen: what it says is in a file.
type note string

func (n note) Write(p []byte) (int, error) { return len(p), atomicfile.Replace(string(n), p, 0o600) }

func (note) Close() error { return nil }

// writeEnviron leaves the environment for the runner, and takes away what an earlier one
// has said. The entries end with a NUL each, which none of them holds.
func (d directory) writeEnviron(env []string) error {
	if err := os.Remove(d.path("said")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var b strings.Builder
	for _, entry := range Outside(env) {
		b.WriteString(entry + "\x00")
	}
	return atomicfile.Replace(d.path("env"), []byte(b.String()), 0o600)
}

func (d directory) readEnviron() ([]string, error) {
	text, err := os.ReadFile(d.path("env"))
	if err != nil {
		return nil, err
	}
	return parseEnviron(string(text))
}

// parseEnviron refuses what is not whole.
func parseEnviron(text string) (env []string, err error) {
	for text != "" {
		entry, rest, whole := strings.Cut(text, "\x00")
		if !whole {
			return nil, errors.New("the environment is truncated")
		}
		env, text = append(env, entry), rest
	}
	return env, nil
}

// forgetEnviron removes the environment, where there is one.
func (d directory) forgetEnviron() { _ = os.Remove(d.path("env")) }

// inTerminal is an environment in a terminal that is not the one it comes from.
func inTerminal(env, pane []string) []string {
	var inside []string
	for _, entry := range env {
		if !ofTerminal(entry) {
			inside = append(inside, entry)
		}
	}
	for _, entry := range pane {
		if ofTerminal(entry) {
			inside = append(inside, entry)
		}
	}
	return inside
}

func ofTerminal(entry string) bool {
	name, _, _ := strings.Cut(entry, "=")
	switch name {
	case "TERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE", "COLUMNS", "LINES":
		return true
	}
	return false
}
