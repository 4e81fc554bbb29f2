// Package daemon has the commands that speak to the daemon: pipelines, agents, decisions.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// Daemon is the daemon, as commands ask it.
type Daemon struct {
	*daemonapi.Client
	stateDir string
	out      io.Writer
	errOut   io.Writer
	asJSON   bool // --json, where the command has that flag
	despite  bool // a daemon that is started goes on without what is damaged
}

// IsDown reports whether there is no daemon to ask.
func IsDown(err error) bool { return errors.Is(err, daemonapi.ErrNotRunning) }

func newDaemon(cmd *cobra.Command) (*Daemon, error) {
	state, err := paths.StateDir()
	if err != nil {
		return nil, err
	}
	asJSON, _ := cmd.Flags().GetBool("json") // no such flag: no JSON
	return &Daemon{Client: daemonapi.At(state), stateDir: state, out: cmd.OutOrStdout(), errOut: term.Prose(cmd.ErrOrStderr()), asJSON: asJSON}, nil
}

// action is what a command asks of the daemon.
type action = func(ctx context.Context, p *Daemon, args []string) error

// Asking runs a command that only asks: it does not start the daemon.
func Asking(run action) func(*cobra.Command, []string) error { return withDaemon(false, run) }

// acting runs a command by which a person has something done: where there is no daemon
// it starts one. What is wrong with the command line is found before, by Args.
func acting(run action) func(*cobra.Command, []string) error { return withDaemon(true, run) }

// asks makes a command that only asks, and takes --json.
func asks(cmd *cobra.Command, run action) *cobra.Command {
	cmd.RunE = Asking(run)
	cmd.Flags().Bool("json", false, "print JSON")
	return cmd
}

// acts makes a command that has something done, and takes --json.
func acts(cmd *cobra.Command, run action) *cobra.Command {
	cmd.RunE = acting(run)
	cmd.Flags().Bool("json", false, "print JSON")
	return cmd
}

// tell says what was done: by what came of it as JSON, or in a line.
func (p *Daemon) tell(came any, line string) error {
	if p.asJSON {
		return term.PrintJSON(p.out, came)
	}
	_, err := fmt.Fprintln(term.Prose(p.out), line)
	return err
}

// completing completes up to most arguments by what the daemon knows. It starts none: then there is
// nothing to complete.
func completing(most int, words func(ctx context.Context, p *Daemon, typed []string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		p, err := newDaemon(cmd)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		complete := term.Completion(most, func(ctx context.Context, typed []string) []string { return words(ctx, p, typed) })
		return complete(cmd, args, begun)
	}
}

func withDaemon(wake bool, run action) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := newDaemon(cmd)
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
			err = term.BadUsage(fmt.Errorf("%s %q is not UTF-8", what, text), "the daemon accepts UTF-8 only")
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
func insist[T any](ctx context.Context, p *Daemon, ask func() (T, error)) (T, error) {
	return insistIf(ctx, p, func(err error) bool { return cutShort(err) || daemonapi.Code(err) == "unavailable" }, ask)
}

// insistOnFleet is insist for what the daemon asks of the fleet. Its word that the fleet does not answer stands: it has
// waited for the fleet already.
func insistOnFleet[T any](ctx context.Context, p *Daemon, ask func() (T, error)) (T, error) {
	return insistIf(ctx, p, cutShort, ask)
}

func insistIf[T any](ctx context.Context, p *Daemon, doubtful func(error) bool, ask func() (T, error)) (T, error) {
	_, isScreen := term.IsScreen(p.errOut)
	defer p.comfort(isScreen)()
	answer, err := ask()
	if !doubtful(err) || ctx.Err() != nil {
		return answer, err
	}
	if _, err := p.wake(ctx); err != nil {
		return answer, err
	}
	return ask()
}

// comfort tells a person at a terminal that an answer takes its time: a machine that was cut off just now is waited
// for up to half a minute. It is over with what it returns.
func (p *Daemon) comfort(isScreen bool) (stop func() bool) {
	if !isScreen {
		return func() bool { return true }
	}
	const soon = 3 * time.Second
	return time.AfterFunc(soon, func() { fmt.Fprintln(p.errOut, "waiting for an answer …") }).Stop
}

// cutShort reports whether the daemon gave no answer.
func cutShort(err error) bool {
	return IsDown(err) || errors.Is(err, daemonapi.ErrCut) || errors.Is(err, context.DeadlineExceeded)
}

// tellSkew says that the daemon is of another version than this program.
func (p *Daemon) tellSkew() {
	if other := p.Skew(); other != "" {
		fmt.Fprintf(p.errOut, "stopgate: this is version %s, the daemon is version %s; update it with: stopgate daemon restart\n", program.Version(), other)
	}
}

// explain says what to do about what the daemon answered, and gives the exit code for it.
func (p *Daemon) explain(ctx context.Context, err error) error {
	var refusal *daemonapi.Error
	switch {
	case err == nil:
		return nil
	case IsDown(err):
		return term.CannotRun(errors.New("the daemon is not running"+p.remains()), "start it with: stopgate daemon start")
	case errors.As(err, &refusal):
		return explainRefusal(refusal, p.Skew())
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return term.WithCode(nil, term.ExitInterrupted)
	case errors.Is(err, daemonapi.ErrForeign):
		return term.CannotRun(err, "nothing was sent; set STOPGATE_STATE_DIR to a directory that you own")
	case errors.Is(err, daemonapi.ErrCut), errors.Is(err, daemonapi.ErrAnswer), errors.Is(err, context.DeadlineExceeded):
		return term.CannotRun(err, "check it with: stopgate daemon status")
	}
	return err
}

// explainRefusal names both versions where they differ: then that may be the reason.
func explainRefusal(refusal *daemonapi.Error, other string) error {
	err := errors.New(strings.TrimRight(refusal.Error(), "\n"))
	if other != "" {
		err = fmt.Errorf("%w (this is version %s, the daemon is version %s)", err, program.Version(), other)
	}
	hinted := term.WithHint(err, refusal.Hint)
	switch refusal.Code {
	case "invalid", "too_large", "not_found":
		return term.WithCode(hinted, term.ExitUsage)
	case "untrusted", "unavailable":
		return term.WithCode(hinted, term.ExitCouldNotRun)
	}
	return hinted
}
