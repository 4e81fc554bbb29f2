// Package console has the commands by which people make, join and look at fleets. stopgate hands them over to
// stopgated, which links NATS.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/stopgate/stopgate/internal/control/fleet/hub"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/program"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// The exit codes are those of stopgate.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitCouldNotRun = 3
	exitInterrupted = 130
)

// command is one call.
type command struct {
	stateDir string
	in       io.Reader
	out      io.Writer
	errOut   io.Writer
	json     bool
	yes      bool
	now      func() time.Time
	flags    *pflag.FlagSet
}

// codeError ends the command with an exit code, and a line that says what to do.
type codeError struct {
	error
	code int
	hint string
}

func (e codeError) Unwrap() error { return e.error }

// errSilent fails a command that has said everything.
var errSilent = codeError{errors.New("failed"), exitFailed, ""}

func usage(text string, args ...any) error {
	return codeError{fmt.Errorf(text, args...), exitUsage, "see: stopgate help fleet"}
}

func withHint(err error, hint string) error { return codeError{err, exitFailed, hint} }

// verbs are the commands. Each sets its flags and returns what is to be done.
var verbs = map[string]func(c *command) func(ctx context.Context, args []string) error{
	"init": newInit, "invite": newInvite, "join": newJoin, "leave": newLeave, "status": alone((*command).status), "doctor": alone((*command).doctor),
}

// alone makes a verb that takes no argument.
func alone(do func(c *command, ctx context.Context) error) func(c *command) func(ctx context.Context, args []string) error {
	return func(c *command) func(ctx context.Context, args []string) error {
		return func(ctx context.Context, args []string) error {
			if len(args) > 0 {
				return usage("fleet %s takes no argument", c.flags.Name())
			}
			return do(c, ctx)
		}
	}
}

// Run does a command, and returns the exit code.
func Run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := &command{in: in, out: out, errOut: errOut, now: time.Now}
	err := c.run(ctx, args)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		c.complain("interrupted", "", exitInterrupted)
		return exitInterrupted
	case errors.Is(err, errSilent):
		return exitFailed
	}
	fmt.Fprintf(errOut, "stopgate: %s\n", plain.Text(err.Error()))
	coded, isCoded := errors.AsType[codeError](err)
	if !isCoded {
		coded.code = exitFailed
	}
	if coded.hint != "" {
		fmt.Fprintln(errOut, coded.hint)
	}
	c.complain(plain.Text(err.Error()), coded.hint, coded.code)
	return coded.code
}

// complain tells a program why the command failed, where it asked for JSON.
func (c *command) complain(message, hint string, code int) {
	if !c.json {
		return
	}
	if text, err := rawjson.Complaint(message, hint, code); err == nil {
		_, _ = c.out.Write(text) // a reader that is gone still has the exit code
	}
}

func (c *command) run(ctx context.Context, args []string) (err error) {
	if c.stateDir, err = paths.StateDir(); err != nil {
		return err
	}
	if len(args) == 0 || verbs[args[0]] == nil {
		return usage("stopgated fleet needs one of init, invite, join, leave, status, doctor")
	}
	c.flags = pflag.NewFlagSet(args[0], pflag.ContinueOnError)
	c.flags.SetOutput(io.Discard)
	c.flags.BoolVar(&c.json, "json", false, "")
	c.flags.BoolVar(&c.yes, "yes", false, "")
	do := verbs[args[0]](c)
	if err := c.flags.Parse(args[1:]); err != nil {
		return usage("%w", err)
	}
	return do(ctx, c.flags.Args())
}

// show prints a value as JSON or as text.
func (c *command) show(v any, text string) error {
	if c.json {
		lines, err := rawjson.Lines(v)
		if err == nil {
			_, err = c.out.Write(lines)
		}
		return err
	}
	_, err := io.WriteString(c.out, text)
	return err
}

// keeper starts the hub in the background, as the daemon does.
func (c *command) keeper() hub.Keeper {
	return hub.Keeper{StateDir: c.stateDir, Environ: os.Environ(), Program: os.Executable}
}

// thisUser is the name of the person at this machine.
func thisUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// thisHost is what this machine is called, as a member's name.
func thisHost() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", err
	}
	short, _, _ := strings.Cut(strings.ToLower(name), ".")
	short = strings.Map(func(r rune) rune {
		if link.CheckName(string(r)) != nil {
			return '-'
		}
		return r
	}, short)
	short = strings.Trim(short[:min(len(short), 32)], "-")
	if link.CheckName(short) != nil {
		return "", fmt.Errorf("the host name %q cannot be the name of a member: give one with --name", name)
	}
	return short, nil
}

// version is that of this program.
func version() string { return program.Version() }
