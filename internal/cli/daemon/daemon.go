package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func NewDaemon() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "daemon",
		Short: "Start, stop and inspect the daemon that runs pipelines",
		Long: `Start, stop and inspect the daemon: one process per user that runs pipelines and agents.
Commands that start a pipeline start the daemon too; hooks never do. Commands and agents keep
running while the daemon is stopped, and it picks them up when it starts again.`,
		Example: `  stopgate daemon status
  stopgate daemon restart
  stopgate daemon install     # run it under systemd`,
	}, newDaemonRun(), newDaemonStart(), newDaemonStop(), newDaemonRestart(), newDaemonStatus(),
		newDaemonInstall(), newDaemonUninstall(), newDaemonBackup())
}

func newDaemonRun() *cobra.Command {
	var despite bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon in the foreground",
		Long: `Run the daemon in the foreground, for your own process manager. Ctrl-C stops it. This process
becomes stopgated.

Exit code 0: stopped. 1: it could not run, or another daemon is running.`,
		Example: "  stopgate daemon run",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := newDaemon(cmd)
			if err != nil {
				return err
			}
			program, err := here.FindProgram("stopgated", os.Environ())
			if err != nil {
				return err
			}
			p.despite = despite
			return become(program, p.daemonArgs(), p.daemonEnviron(os.Environ()))
		},
	}
	cmd.Flags().BoolVar(&despite, "despite-damage", false, "start without what is damaged in the store (see stopgate daemon start)")
	return cmd
}

func newDaemonStart() *cobra.Command {
	var despite bool
	cmd := asks(&cobra.Command{
		Use:   "start",
		Short: "Start the daemon in the background",
		Long: `Start the daemon in the background and wait until it is ready. Do nothing if it is running.

The daemon does not start if its store is damaged so that it cannot tell what is missing. Restore a
backup then. Without one, --despite-damage starts it with what can still be read: pipelines whose
record is damaged are held, and what was recorded in a damaged part of the store is lost. Before that,
copy stopgate.db and the files next to it. stopgate daemon status shows what was lost.

Exit code 0: running. 3: it could not be started.`,
		Example: `  stopgate daemon start
  stopgate daemon start --despite-damage`,
		Args: term.NoArgs,
	}, func(ctx context.Context, p *Daemon, _ []string) error {
		p.despite = despite
		started, err := p.wake(ctx)
		if err != nil {
			return err
		}
		word := "is already running"
		if started {
			word = "started"
		}
		return p.tellRunning(ctx, word)
	})
	cmd.Flags().BoolVar(&despite, "despite-damage", false, "start without what is damaged in the store")
	return cmd
}

// tellRunning says which daemon runs.
func (p *Daemon) tellRunning(ctx context.Context, word string) error {
	version, err := p.Version(ctx)
	if err != nil {
		return err
	}
	return p.tell(version, fmt.Sprintf("the daemon %s (process %d, version %s)", word, version.PID, version.Version))
}

func newDaemonStop() *cobra.Command {
	var kill bool
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop the daemon",
		Long: `Stop the daemon and wait until it has stopped. Commands and agents that it started keep running;
with --kill they are killed too, and their pipelines handle that when the daemon starts again.
The daemon's own agents cannot run this command.

Exit code 0: not running, or it was not running before. 1: this is an agent's shell. 3: the daemon
has not stopped, or with --kill something it started still runs.`,
		Example: `  stopgate daemon stop
  stopgate daemon stop --kill`,
		Args:    term.NoArgs,
		PreRunE: notForAgents,
		RunE: Asking(func(ctx context.Context, p *Daemon, _ []string) error {
			stopped, err := p.Halt(ctx, kill)
			if err != nil {
				return err
			}
			text := "the daemon was not running"
			if stopped {
				text = "the daemon has stopped"
			}
			_, err = fmt.Fprintln(p.out, text)
			return err
		}),
	}
	cmd.Flags().BoolVar(&kill, "kill", false, "also kill the commands and agents it started")
	return cmd
}

func newDaemonRestart() *cobra.Command {
	return &cobra.Command{
		Use:   "restart",
		Short: "Stop and start the daemon",
		Long: `Stop the daemon and start it again, for example after an update. Commands and agents keep
running. The daemon's own agents cannot run this command.

Exit code 0: running. 1: this is an agent's shell. 3: it did not stop or could not be started.`,
		Example:               "  stopgate daemon restart",
		DisableFlagsInUseLine: true,
		Args:                  term.NoArgs,
		PreRunE:               notForAgents,
		RunE: Asking(func(ctx context.Context, p *Daemon, _ []string) error {
			if _, err := p.Halt(ctx, false); err != nil {
				return err
			}
			if _, err := p.wake(ctx); err != nil {
				return err
			}
			return p.tellRunning(ctx, "has restarted")
		}),
	}
}

func newDaemonStatus() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "status",
		Short: "Show the daemon's status",
		Long: `Show whether the daemon is running, what it runs, and its problems.

Exit code 0: running. 1: running, with problems. 3: not running, or not ready yet.`,
		Example: `  stopgate daemon status
  stopgate daemon status --json | jq .pipelines`,
		Args: term.NoArgs,
	}, func(ctx context.Context, p *Daemon, _ []string) error {
		status, err := p.StatusSoon(ctx)
		switch {
		case IsDown(err):
			return p.tellDown()
		case errors.Is(err, context.DeadlineExceeded):
			return p.hung()
		case err != nil:
			return err
		}
		return term.Show(p.out, p.asJSON, runningStatus{"running", status})
	})
}

// StatusSoon does not wait long: one that takes its time is worth knowing of.
func (p *Daemon) StatusSoon(ctx context.Context) (daemonapi.Status, error) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.Status(ctx)
}

// runningStatus is the status of a daemon that runs, for programs that also meet those
// that do not.
type runningStatus struct {
	State string `json:"status"`
	daemonapi.Status
}

var _ term.Failing = runningStatus{}

// Failure implements what term.View may have.
func (s runningStatus) Failure() error { return term.FailedIf(len(s.Trouble) > 0) }

// tellDown says that no daemon answers.
func (p *Daemon) tellDown() error {
	state, text, hint := "not_running", "not running", "start it with: stopgate daemon start"
	if held, _ := p.held(); held { // else it cannot be running
		state, text, hint = "not_ready", "not ready: it is starting or stopping"+p.holder(), "wait for it with: stopgate daemon start"
	}
	_ = p.tell(map[string]string{"status": state}, text) // the exit code says it, too
	if !p.asJSON {
		fmt.Fprintln(p.errOut, hint)
	}
	return term.WithCode(nil, term.ExitCouldNotRun)
}

// Print implements term.View.
func (s runningStatus) Print(out io.Writer) {
	p := term.PaintFor(out)
	row := func(name, text string) { fmt.Fprintf(out, "%-10s %s\n", name, text) }
	row("daemon", fmt.Sprintf("running for %s, process %d", term.Age(s.Started, time.Now()), s.PID))
	row("version", s.Version.Version)
	row("pipelines", countsLine(s.Pipelines))
	row("runs", countsLine(s.Runs))
	agents := strconv.Itoa(s.Agents) + " alive"
	if s.Queued > 0 {
		agents += fmt.Sprintf(", %d queued", s.Queued)
	}
	row("agents", agents)
	decisions := plain.Count(s.Decisions, "decision") + " to answer"
	if s.Decisions == 0 {
		decisions = "no decisions to answer"
	} else {
		decisions = p.Yellow(decisions) + "  " + p.Faint("→ stopgate decision list")
	}
	row("decisions", decisions)
	row("store", fmt.Sprintf("%s, at event %d", term.Shown(s.Store), s.Events))
	for _, trouble := range s.Trouble {
		row("problem", p.Red(plain.Line(trouble)))
	}
}

// countsLine names those that there are.
func countsLine(c daemonapi.Counts) string {
	return cmp.Or(term.Tally(
		[]string{ownerRunning, ownerQueued, ownerWaiting, ownerDone, ownerFailed, ownerCancelled, ownerHeld},
		[]int{c.Running, c.Queued, c.Waiting, c.Done, c.Failed, c.Cancelled, c.Held},
	), "none")
}

func newDaemonBackup() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "backup FILE",
		Short: "Back up the daemon's store",
		Long: `Copy the daemon's store to a new file while the daemon runs. To restore it, stop the daemon and
replace the store with the copy.

Exit code 0: the copy is complete and on disk. 1: the copy failed. 3: the daemon is not running.`,
		Example: `  stopgate daemon backup stopgate-backup.db`,
		Args:    term.OneArg,
	}, func(ctx context.Context, p *Daemon, args []string) error {
		path, err := filepath.Abs(args[0])
		if err != nil {
			return err
		}
		if _, err := os.Lstat(path); err == nil {
			return term.WithHint(fmt.Errorf("%s already exists", term.Shown(path)), "a backup does not overwrite files; choose another name")
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return term.WithHint(fmt.Errorf("%s is not a directory", term.Shown(filepath.Dir(path))), "create it first, or choose another path")
		}
		if err := p.Backup(ctx, path); err != nil {
			return p.noBackup(ctx, err)
		}
		return p.tellBackup(path)
	})
}

// noBackup says why there is none. A place that cannot be written to is no mistake in the
// command line.
func (p *Daemon) noBackup(ctx context.Context, err error) error {
	if daemonapi.Code(err) == "invalid" {
		return term.WithCode(p.explain(ctx, err), term.ExitFailed)
	}
	return err
}

func (p *Daemon) tellBackup(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("the daemon reported a backup that cannot be read: %w", err)
	}
	return p.tell(struct {
		Path string `json:"path"`
		Size int64  `json:"size"`
	}{path, info.Size()}, "saved "+plain.Size(info.Size())+" in "+term.Shown(path))
}
