// Package plane has the commands that speak to the daemon: pipelines, agents, decisions.
package plane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// plane is the daemon, as commands ask it.
type Plane struct {
	*client.Client
	stateDir string
	out      io.Writer
	errOut   io.Writer
}

// isDown reports whether there is no daemon to ask.
func IsDown(err error) bool { return errors.Is(err, client.ErrNotRunning) }

func newPlane(cmd *cobra.Command) (*Plane, error) {
	state, err := paths.StateDir()
	if err != nil {
		return nil, err
	}
	return &Plane{Client: client.At(state), stateDir: state, out: cmd.OutOrStdout(), errOut: cmd.ErrOrStderr()}, nil
}

// asking runs a command that only asks: it does not start the daemon.
func Asking(run func(ctx context.Context, p *Plane, args []string) error) func(*cobra.Command, []string) error {
	return withPlane(false, run)
}

// acting runs a command by which a person has something done: where there is no daemon
// it starts one. What is wrong with the command line is found before, by Args.
func acting(run func(ctx context.Context, p *Plane, args []string) error) func(*cobra.Command, []string) error {
	return withPlane(true, run)
}

func withPlane(wake bool, run func(ctx context.Context, p *Plane, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := newPlane(cmd)
		if err != nil {
			return err
		}
		ctx, stop := term.UntilSignal(cmd)
		defer stop()
		if err := checkText(cmd, args); err != nil {
			return err
		}
		if wake {
			if _, err := p.wake(ctx); err != nil {
				return p.explain(ctx, err)
			}
		}
		err = run(ctx, p, args)
		p.tellSkew()
		return p.explain(ctx, err)
	}
}

// checkText refuses what the daemon would not be told as it is: it is asked in JSON, which
// has no place for bytes that are no characters.
func checkText(cmd *cobra.Command, args []string) (err error) {
	check := func(what, text string) {
		if err == nil && !utf8.ValidString(text) {
			err = term.BadUsage(fmt.Errorf("%s %q is not UTF-8", what, text), "the daemon would get other words than these")
		}
	}
	for _, arg := range args {
		check("the argument", arg)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, value := range list.GetSlice() {
				check("--"+f.Name, value)
			}
			return
		}
		check("--"+f.Name, f.Value.String())
	})
	return err
}

// insist has the daemon do something, and asks once more where it ended meanwhile, did not
// answer or could not do it just then. The request carries an id, so that it is done once.
func insist[T any](ctx context.Context, p *Plane, ask func() (T, error)) (T, error) {
	answer, err := ask()
	if !doubtful(err) || ctx.Err() != nil {
		return answer, err
	}
	if _, err := p.wake(ctx); err != nil {
		return answer, err
	}
	return ask()
}

// doubtful reports whether asking again may help.
func doubtful(err error) bool {
	return IsDown(err) || errors.Is(err, client.ErrCut) || errors.Is(err, context.DeadlineExceeded) || client.Code(err) == "unavailable"
}

// tellSkew says that the daemon is of another version than this program.
func (p *Plane) tellSkew() {
	if other := p.Skew(); other != "" {
		fmt.Fprintf(p.errOut, "stopgate: this is %s, the daemon is %s; put that right with: stopgate daemon restart\n", program.Version(), other)
	}
}

// explain says what to do about what the daemon answered, and gives the exit code for it.
func (p *Plane) explain(ctx context.Context, err error) error {
	var refusal *client.Error
	switch {
	case err == nil:
		return nil
	case IsDown(err):
		return term.WithCode(term.WithHint(errors.New("the daemon is not running"), "start it with: stopgate daemon start"), term.ExitCouldNotRun)
	case errors.As(err, &refusal):
		return explainRefusal(refusal, p.Skew())
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return term.WithCode(nil, term.ExitInterrupted)
	case errors.Is(err, client.ErrForeign):
		return term.WithCode(term.WithHint(err, "nothing was sent; set STOPGATE_STATE_DIR to a directory of your own"), term.ExitCouldNotRun)
	case errors.Is(err, client.ErrCut), errors.Is(err, client.ErrAnswer), errors.Is(err, context.DeadlineExceeded):
		return term.WithCode(term.WithHint(err, "see how it is with: stopgate daemon status"), term.ExitCouldNotRun)
	}
	return err
}

// explainRefusal names both versions where they differ: then that may be the reason.
func explainRefusal(refusal *client.Error, other string) error {
	err := errors.New(strings.TrimRight(refusal.Error(), "\n"))
	if other != "" {
		err = fmt.Errorf("%w (this is %s, the daemon %s)", err, program.Version(), other)
	}
	hinted := error(err)
	if refusal.Hint != "" {
		hinted = term.WithHint(err, refusal.Hint)
	}
	switch refusal.Code {
	case "invalid", "too_large":
		return term.WithCode(hinted, term.ExitUsage)
	case "untrusted", "unavailable", "forbidden":
		return term.WithCode(hinted, term.ExitCouldNotRun)
	}
	return hinted
}
