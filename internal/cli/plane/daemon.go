package plane

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
		Short: "Look after the process that runs pipelines",
		Long: `Look after the daemon: the process, one for each user, that runs pipelines and agents. The
commands that start something start it where it does not run; hooks never do. What it
started goes on when it ends, and it goes on with that when it runs again.`,
		Example: `  stopgate daemon status
  stopgate daemon restart
  stopgate daemon install     have systemd run it`,
	}, newDaemonRun(), newDaemonStart(), newDaemonStop(), newDaemonRestart(), newDaemonStatus(),
		newDaemonInstall(), newDaemonUninstall(), newDaemonBackup())
}

func newDaemonRun() *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the daemon in the foreground",
		Long: `Run the daemon in the foreground, for those who start processes themselves. Ctrl-C ends it.
This process becomes stopgated.

Exit code 0: it was ended. 1: it could not go on, or another one runs.`,
		Example:               "  stopgate daemon run",
		DisableFlagsInUseLine: true,
		Args:                  term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := newPlane(cmd)
			if err != nil {
				return err
			}
			program, err := here.FindProgram("stopgated", os.Environ())
			if err != nil {
				return err
			}
			return become(program, []string{"daemon"}, p.daemonEnviron(os.Environ()))
		},
	}
}

func newDaemonStart() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "start",
		Short: "Start the daemon in the background",
		Long: `Start the daemon in the background and wait until it can be asked. One that runs already is
left alone.

Exit code 0: it runs. 3: it could not be started.`,
		Example: `  stopgate daemon start`,
		Args:    term.NoArgs,
	}, func(ctx context.Context, p *Plane, _ []string) error {
		started, err := p.wake(ctx)
		if err != nil {
			return err
		}
		word := "runs already"
		if started {
			word = "started"
		}
		return p.tellRunning(ctx, word)
	})
}

// tellRunning says which daemon runs.
func (p *Plane) tellRunning(ctx context.Context, word string) error {
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
		Short: "End the daemon",
		Long: `End the daemon and wait until it has ended. The commands and agents that it started go on;
with --kill they are ended too, and their pipelines see to that when the daemon runs again.
The daemon's own agents may not do it.

Exit code 0: it does not run, also where it did not before. 3: it has not ended, or, with
--kill, what it started has not; or this is an agent's shell.`,
		Example: `  stopgate daemon stop
  stopgate daemon stop --kill`,
		Args:    term.NoArgs,
		PreRunE: notForAgents,
		RunE: Asking(func(ctx context.Context, p *Plane, _ []string) error {
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
	cmd.Flags().BoolVar(&kill, "kill", false, "end what it started as well")
	return cmd
}

func newDaemonRestart() *cobra.Command {
	return &cobra.Command{
		Use:   "restart",
		Short: "End the daemon and start it again",
		Long: `End the daemon and start it again, as after an update. What it started goes on meanwhile.
The daemon's own agents may not do it.

Exit code 0: it runs. 3: it has not ended, or could not be started; or this is an agent's shell.`,
		Example:               "  stopgate daemon restart",
		DisableFlagsInUseLine: true,
		Args:                  term.NoArgs,
		PreRunE:               notForAgents,
		RunE: Asking(func(ctx context.Context, p *Plane, _ []string) error {
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
		Short: "Show how the daemon is",
		Long: `Show whether the daemon runs, what it has under way, and what keeps it from its work.

Exit code 0: it runs. 1: it runs, and something keeps it from its work. 3: it does not run, or
cannot be asked yet.`,
		Example: `  stopgate daemon status
  stopgate daemon status --json | jq .pipelines`,
		Args: term.NoArgs,
	}, func(ctx context.Context, p *Plane, _ []string) error {
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
func (p *Plane) StatusSoon(ctx context.Context) (daemonapi.Status, error) {
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
func (p *Plane) tellDown() error {
	state, text, hint := "not_running", "not running", "start it with: stopgate daemon start"
	if held, _ := p.held(); held { // else it cannot be running
		state, text, hint = "not_ready", "not ready: it starts or ends"+p.holder(), "wait for it with: stopgate daemon start"
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
	decisions := plain.Count(s.Decisions, "decision") + " to make"
	if s.Decisions > 0 {
		decisions = p.Yellow(decisions) + "  " + p.Faint("→ stopgate decision list")
	}
	row("decisions", decisions)
	row("store", fmt.Sprintf("%s, at position %d", term.Shown(s.Store), s.Events))
	for _, trouble := range s.Trouble {
		row("trouble", p.Red(plain.Line(trouble)))
	}
}

// countsLine names those that there are.
func countsLine(c daemonapi.Counts) string {
	return cmp.Or(term.Tally(
		[]string{ownerRunning, ownerWaiting, ownerDone, ownerFailed, ownerCancelled},
		[]int{c.Running, c.Waiting, c.Done, c.Failed, c.Cancelled},
	), "none")
}

func newDaemonBackup() *cobra.Command {
	return asks(&cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the daemon's store while it runs",
		Long: `Copy everything that the daemon knows into one new file, while it goes on. To go back to it,
stop the daemon and put the file in the store's place.

Exit code 0: the copy is complete and on disk. 1: there is none. 3: the daemon does not run.`,
		Example: `  stopgate daemon backup stopgate-backup.db`,
		Args:    term.OneArg,
	}, func(ctx context.Context, p *Plane, args []string) error {
		path, err := filepath.Abs(args[0])
		if err != nil {
			return err
		}
		if _, err := os.Lstat(path); err == nil {
			return term.WithHint(fmt.Errorf("%s exists already", term.Shown(path)), "a backup never takes the place of another file: name a new one")
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return term.WithHint(fmt.Errorf("%s is no directory", term.Shown(filepath.Dir(path))), "make it first, or name another place")
		}
		if err := p.Backup(ctx, path); err != nil {
			return p.noBackup(ctx, err)
		}
		return p.tellBackup(path)
	})
}

// noBackup says why there is none. A place that cannot be written to is no mistake in the
// command line.
func (p *Plane) noBackup(ctx context.Context, err error) error {
	if daemonapi.Code(err) == "invalid" {
		return term.WithCode(p.explain(ctx, err), term.ExitFailed)
	}
	return err
}

func (p *Plane) tellBackup(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("the daemon says that it made the backup, but: %w", err)
	}
	return p.tell(struct {
		Path string `json:"path"`
		Size int64  `json:"size"`
	}{path, info.Size()}, "saved "+bytesOf(info.Size())+" in "+term.Shown(path))
}

// bytesOf is a size in words.
func bytesOf(n int64) string {
	switch {
	case n < 1<<10:
		return strconv.FormatInt(n, 10) + " bytes"
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
