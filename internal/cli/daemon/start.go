package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	host    string
	project string // the name that the fleet has for it
	follow  bool
	idOnly  bool
}

func NewStart() *cobra.Command {
	var o startOptions
	cmd := &cobra.Command{
		Use:   "start [COMMAND [ARGS…]]",
		Short: "Run a runbook command, or list the commands",
		Long: `Run a command from this project's runbooks: a pipeline, an agent or a shell command.
Without COMMAND, list the commands. The daemon runs it, and is started if needed. Arguments after
COMMAND belong to the command, except --help, which starts nothing (use -- --help to pass it).

With --host, run it on another machine of the fleet: in the project that has the same name there,
if that machine allows it. The name is the one that your fleet.projects give to this project, else
that of its directory, or --project. Your environment variables stay here.

With --id, print only the id, for scripts: stopgate pipeline wait takes it.

With --watch, show the steps until it has ended, also while it waits for a decision. Ctrl-C stops
watching, not the run.

Exit code 0: started; with --watch: done. 1: refused; with --watch: failed. 2: the command line or
a runbook is invalid. 3: the daemon could not be started, the runbooks are not approved, or the
other machine does not answer. 4: with --watch: cancelled. 130: with --watch: Ctrl-C.`,
		Example: `  stopgate start
  stopgate start build
  stopgate start --watch fix 1234 --priority high
  stopgate start --host vps build
  stopgate pipeline wait $(stopgate start --id build)`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if helpBehind(args) {
				return cmd.Help()
			}
			if o.host == daemonapi.Here {
				o.host = ""
			}
			h, err := here.FindRunbooks()
			switch {
			case err != nil:
				return err
			case !utf8.ValidString(h.Root) || !utf8.ValidString(h.Cwd):
				return term.BadUsage(fmt.Errorf("the name of the directory %s is not UTF-8", term.Shown(h.Cwd)), "rename it: the daemon accepts UTF-8 names only")
			case o.idOnly && (o.follow || len(args) == 0):
				return term.BadUsage(errors.New("--id needs a command, and cannot be combined with --watch"), "list commands with: stopgate start")
			case len(args) == 0 && o.follow:
				return term.BadUsage(errors.New("--watch needs a command"), "list commands with: stopgate start")
			case len(args) == 0 && o.host != "":
				return term.BadUsage(errors.New("--host needs a command"), "usage: stopgate start --host NAME COMMAND")
			case o.host == "" && o.project != "":
				return term.BadUsage(errors.New("--project needs --host"), "here, the project is the one that you are in")
			}
			if err := checkText(cmd, args); err != nil {
				return err
			}
			if o.host == "" {
				if _, err := here.MustExist(h, nil); err != nil {
					return err
				}
			}
			if len(args) == 0 {
				return Asking(func(ctx context.Context, p *Daemon, _ []string) error { return o.list(ctx, p, h) })(cmd, args)
			}
			return acting(func(ctx context.Context, p *Daemon, args []string) error {
				return ownFlag(cmd, args[0], o.run(ctx, p, h, args))
			})(cmd, args)
		},
		ValidArgsFunction: completeCommand,
	}
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&o.runbook, "runbook", "", "the runbook file, if several define the command")
	hostFlag(cmd, &o.host, "the machine of the fleet on which to run it")
	cmd.Flags().StringVar(&o.project, "project", "", "with --host, the project's name in the fleet")
	_ = cmd.RegisterFlagCompletionFunc("project", completing(1, o.projectsThere)) // the flag is there
	cmd.Flags().BoolVar(&o.follow, "watch", false, "show the steps until it has ended")
	cmd.Flags().BoolVar(&o.idOnly, "id", false, "print only the id")
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

func (o *startOptions) list(ctx context.Context, p *Daemon, h *here.Place) error {
	all, err := p.Commands(ctx, h.Root)
	if IsDown(err) {
		all, err = commandsOf(ctx, h.Root)
	}
	if err != nil {
		return err
	}
	if p.asJSON {
		return term.PrintJSON(p.out, append([]daemonapi.Command{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintf(p.errOut, "stopgate: the runbooks in %s define no command\n", term.Shown(h.ConfigDir()))
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

func (o *startOptions) run(ctx context.Context, p *Daemon, h *here.Place, args []string) error {
	request, err := o.request(ctx, p, h, args)
	if err != nil {
		return err
	}

	owner, err := insist(ctx, p, func() (daemonapi.Owner, error) { return p.Start(ctx, request) })
	switch {
	case err != nil && o.host != "":
		return err
	case err != nil:
		return p.otherCommand(ctx, err, h, args[0])
	}

	notice(p, &owner)
	if owner.Job != "" {
		return o.tellJob(p, &owner)
	}
	if o.idOnly && !p.asJSON {
		_, err := fmt.Fprintln(p.out, owner.ID)
		return err
	}
	if !o.follow {
		return p.tellStarted(&owner)
	}

	if _, drawn := term.IsScreen(p.out); !p.asJSON && !drawn {
		fmt.Fprintln(p.errOut, title(&owner)+" started")
	}
	err = p.watchOwner(ctx, owner.ID)
	if ctx.Err() != nil {
		fmt.Fprintf(p.errOut, "\nthe %s keeps running; watch it with: stopgate %s show %s --watch\n", daemonapi.KindWord(owner.Kind), groupWord(&owner), shortID(owner.ID))
		return term.WithCode(nil, term.ExitInterrupted)
	}
	return err
}

// request is what the daemon is asked to start.
func (o *startOptions) request(ctx context.Context, p *Daemon, h *here.Place, args []string) (daemonapi.Start, error) {
	if o.host != "" {
		if err := p.checkHost(ctx, o.host); err != nil {
			return daemonapi.Start{}, err
		}
		return o.there(h, args)
	}
	return daemonapi.Start{
		ID: daemonapi.NewID(), Project: h.Root, Cwd: h.Cwd,
		Command: args[0], Args: args[1:], Runbook: o.runbook, Env: p.passed(ctx, h, args[0]),
	}, nil
}

// passed are the variables of our environment that a command asks for. A daemon that cannot say
// so says why when the command is started.
func (p *Daemon) passed(ctx context.Context, h *here.Place, command string) map[string]string {
	all, err := p.Commands(ctx, h.Root)
	if err != nil {
		return nil
	}
	env := map[string]string{}
	for _, c := range all {
		for _, name := range c.PassEnv {
			if value, set := os.LookupEnv(name); set && c.Name == command {
				env[name] = value
			}
		}
	}
	return env
}

// ownFlag adds to a refusal that the option which the command does not know is one of
// start, and where it belongs.
func ownFlag(cmd *cobra.Command, command string, err error) error {
	var refusal *daemonapi.Error
	if !errors.As(err, &refusal) || refusal.Code != "invalid" {
		return err
	}
	for _, name := range []string{"--runbook", "--host", "--project", "--watch", "--id", "--json"} {
		if strings.Contains(refusal.Failure.Error, "unknown option: "+name+";") {
			hint := fmt.Sprintf("%s is an option of %s: put it before %s", name, cmd.CommandPath(), plain.Line(command))
			refusal.Hint = strings.TrimPrefix(refusal.Hint+"\n"+hint, "\n")
		}
	}
	return err
}

// notice passes on what the daemon has to say about the start.
func notice(p *Daemon, owner *daemonapi.Owner) {
	if owner.Notice != "" {
		fmt.Fprintln(p.errOut, "stopgate: "+plain.Line(owner.Notice))
	}
}

// tellJob says that a job was added in the place of a start: the runbook makes one of the command.
func (o *startOptions) tellJob(p *Daemon, owner *daemonapi.Owner) error {
	if o.idOnly && !p.asJSON {
		_, err := fmt.Fprintln(p.out, owner.Job)
		return err
	}
	if err := p.tell(owner, fmt.Sprintf("added job %s (%s)", shortID(owner.Job), plain.Line(owner.Command))); err != nil || p.asJSON {
		return err
	}
	if owner.Reason != "" {
		tellWaits(p, owner.Reason)
	}
	fmt.Fprintln(p.errOut, term.PaintFor(p.errOut).Faint("  see it:     stopgate job show "+shortID(owner.Job)))
	return nil
}

// tellStarted says that it was started, and what can be done now.
func (p *Daemon) tellStarted(owner *daemonapi.Owner) error {
	if err := p.tell(owner, title(owner)+" started"); err != nil || p.asJSON {
		return err
	}
	group, id := groupWord(owner), shortID(owner.ID)
	logs := "logs " + id + " -f"
	if owner.Host != "" {
		logs = "logs " + id // it cannot be followed
	}
	faint := term.PaintFor(p.errOut).Faint
	for _, hint := range [][2]string{{"watch it", "show " + id + " --watch"}, {"its output", logs}, {"cancel it", "cancel " + id}} {
		fmt.Fprintln(p.errOut, faint(fmt.Sprintf("  %-11s stopgate %s %s", hint[0]+":", group, hint[1])))
	}
	return nil
}

// otherCommand guesses the command that was meant, where the daemon had no advice.
func (p *Daemon) otherCommand(ctx context.Context, err error, h *here.Place, name string) error {
	var refusal *daemonapi.Error
	if !errors.As(err, &refusal) || refusal.Code != "not_found" || refusal.Hint != "" {
		return err
	}
	all, _ := p.Commands(ctx, h.Root) // then there is nothing to guess
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	refusal.Hint = document.Hint(name, names, "list commands with: stopgate start")
	return term.WithCode(explainRefusal(refusal, p.Skew()), term.ExitUsage)
}
