package plane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

type startOptions struct {
	runbook string
	follow  bool
}

func NewStart() *cobra.Command {
	var o startOptions
	cmd := &cobra.Command{
		Use:   "start [COMMAND [ARGS…]]",
		Short: "Run a command of this project's runbooks; without one, list them",
		Long: `Run a command of the runbooks in this project's .gauntlet/runbooks: a pipeline, an agent or
a shell command. The daemon runs it, and is started where it does not run. Everything behind
COMMAND is its own, but for --help, which starts nothing: write -- before it to pass it on.
Without COMMAND those that there are are listed.

With --watch its steps are shown until it is at its end, also while it waits for a person.
Ctrl-C then ends only the watching.

Exit code 0: it was started; with --watch: it is done. 1: it was refused; with --watch: it
failed. 2: the command line or a runbook must change first. 3: the daemon could not be
started, or the runbooks were never approved. 4: with --watch, it was cancelled. 130: with
--watch, by Ctrl-C.`,
		Example: `  stopgate start
  stopgate start build
  stopgate start --watch fix 1234 --priority high`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if helpBehind(args) {
				return cmd.Help()
			}
			h, err := here.FindRunbooks()
			switch {
			case err != nil:
				return err
			case !utf8.ValidString(h.Root) || !utf8.ValidString(h.Cwd):
				return term.BadUsage(fmt.Errorf("the directory %s is not UTF-8", term.Shown(h.Cwd)), "the daemon can only be told of directories whose names are")
			case len(args) == 0 && o.follow:
				return term.BadUsage(errors.New("--watch needs a command"), "see those there are with: stopgate start")
			case len(args) == 0:
				return acting(func(ctx context.Context, p *Plane, _ []string) error { return o.list(ctx, p, h) })(cmd, args)
			}
			return acting(func(ctx context.Context, p *Plane, args []string) error {
				return ownFlag(cmd, args[0], o.run(ctx, p, h, args))
			})(cmd, args)
		},
		ValidArgsFunction: commandNames,
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&o.runbook, "runbook", "", "the file, where several have the command")
	cmd.Flags().BoolVar(&o.follow, "watch", false, "show its steps until it is at its end")
	cmd.Flags().Bool("json", false, "print JSON")
	return cmd
}

// helpBehind reports whether help is asked for behind a command's name.
func helpBehind(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

func (o *startOptions) list(ctx context.Context, p *Plane, h *here.Place) error {
	all, err := p.Commands(ctx, h.Root)
	if err != nil {
		return err
	}
	if p.asJSON {
		return term.PrintJSON(p.out, append([]daemonapi.Command{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintf(p.errOut, "stopgate: no runbook in %s has a command\n", term.Shown(h.ConfigDir()))
		return nil
	}
	rows := make([][]string, len(all))
	for i, c := range all {
		rows[i] = []string{strings.TrimSpace(plain.Line(c.Name) + " " + plain.Line(c.Usage)), plain.Line(c.Description)}
		if c.Description == "" {
			rows[i][1] = plain.Line(c.Runs)
		}
	}
	return term.PrintLines(p.out, term.Table(rows, term.WidthOf(p.out), nil))
}

func (o *startOptions) run(ctx context.Context, p *Plane, h *here.Place, args []string) error {
	request := daemonapi.Start{
		ID: daemonapi.NewID(), Project: h.Root, Cwd: h.Cwd,
		Command: args[0], Args: args[1:], Runbook: o.runbook,
	}
	owner, err := insist(ctx, p, func() (daemonapi.Owner, error) { return p.Start(ctx, request) })
	if err != nil {
		return p.otherCommand(ctx, err, h, args[0])
	}
	notice(p, &owner)
	if !o.follow {
		return p.tellStarted(&owner)
	}
	if _, drawn := term.IsScreen(p.out); !p.asJSON && !drawn {
		fmt.Fprintln(p.errOut, title(&owner)+" started")
	}
	err = p.watchOwner(ctx, owner.ID)
	if ctx.Err() != nil {
		fmt.Fprintf(p.errOut, "\nthe %s goes on; see it with: stopgate %s show %s --watch\n", kindWord(&owner), groupWord(&owner), shortID(owner.ID))
		return term.WithCode(nil, term.ExitInterrupted)
	}
	return err
}

// ownFlag adds to a refusal that the option which the command does not know is one of
// start, and where it belongs.
func ownFlag(cmd *cobra.Command, command string, err error) error {
	var refusal *daemonapi.Error
	if !errors.As(err, &refusal) || refusal.Code != "invalid" {
		return err
	}
	for _, name := range []string{"--runbook", "--watch", "--json"} {
		if strings.Contains(refusal.Failure.Error, "unknown option: "+name+";") {
			hint := fmt.Sprintf("%s is an option of %s: write it before %s", name, cmd.CommandPath(), plain.Line(command))
			refusal.Hint = strings.TrimPrefix(refusal.Hint+"\n"+hint, "\n")
		}
	}
	return err
}

// notice passes on what the daemon has to say about the start.
func notice(p *Plane, owner *daemonapi.Owner) {
	if owner.Notice != "" {
		fmt.Fprintln(p.errOut, "stopgate: "+plain.Line(owner.Notice))
	}
}

// tellStarted says that it was started, and what can be done now.
func (p *Plane) tellStarted(owner *daemonapi.Owner) error {
	if err := p.tell(owner, title(owner)+" started"); err != nil || p.asJSON {
		return err
	}
	group, id := groupWord(owner), shortID(owner.ID)
	faint := term.PaintFor(p.errOut).Faint
	for _, hint := range [][2]string{{"see it", "show " + id + " --watch"}, {"its output", "logs " + id + " -f"}, {"cancel it", "cancel " + id}} {
		fmt.Fprintln(p.errOut, faint(fmt.Sprintf("  %-11s stopgate %s %s", hint[0]+":", group, hint[1])))
	}
	return nil
}

// otherCommand guesses the command that was meant, where the daemon had no advice.
func (p *Plane) otherCommand(ctx context.Context, err error, h *here.Place, name string) error {
	var refusal *daemonapi.Error
	if !errors.As(err, &refusal) || refusal.Code != "not_found" || refusal.Hint != "" {
		return err
	}
	all, _ := p.Commands(ctx, h.Root) // then there is nothing to guess
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	refusal.Hint = document.Hint(name, names, "see those there are with: stopgate start")
	return term.WithCode(explainRefusal(refusal, p.Skew()), term.ExitUsage)
}

// commandNames completes a command. It starts no daemon.
func commandNames(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	h, err := here.FindRunbooks()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault // the command's own may be files
	}
	all, _ := daemonapi.At(h.StateDir).Commands(cmd.Context(), h.Root) // then there is nothing to complete
	var names []string
	for _, c := range all {
		if strings.HasPrefix(c.Name, begun) {
			names = append(names, c.Name+"\t"+plain.Line(c.Description))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
