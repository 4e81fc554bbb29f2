package daemon

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

func NewWorker() *cobra.Command {
	return term.Group(&cobra.Command{
		Use:   "worker",
		Short: "Start and stop the workers that run pipelines for queues",
		Long: `Start and stop the workers of a project's runbooks. A worker runs a pipeline for each item of its queue
(see stopgate work), as long as the daemon runs. Only approved runbooks count.`,
		Example: `  stopgate worker start fixer
  stopgate worker list`,
	}, newWorkerSwitch(true), newWorkerSwitch(false), newWorkerList())
}

func newWorkerSwitch(on bool) *cobra.Command {
	var project projectFlag
	var root string
	use, short, long := "start", "Start a worker", `Start a worker: it runs its pipeline for each item of its queue, from now on and also after a restart of the
daemon, which is started if it is not running. Agents of the daemon cannot run this command.`
	if !on {
		use, short, long = "stop", "Stop a worker", `Stop a worker: it takes no more items. What it already runs continues. The daemon is started if it is not running.`
	}
	cmd := acts(&cobra.Command{
		Use: use + " NAME", Short: short,
		Long: long + `

Exit code 0: done. 2: usage error, or there is no such worker. 3: the daemon could not be started, or
the runbooks are not approved.`,
		Example: "  stopgate worker " + use + " fixer",
		Args:    term.OneArg,
	}, func(ctx context.Context, p *Daemon, args []string) error {
		worker, err := p.SwitchWorker(ctx, daemonapi.WorkerSwitch{Project: root, Name: args[0], On: on})
		if err != nil {
			return err
		}
		if p.asJSON {
			return term.PrintJSON(p.out, worker)
		}
		word := "started"
		if !on {
			word = "stopped"
		}
		_, err = fmt.Fprintf(p.out, "worker %s %s\n", plain.Line(worker.Name), word)
		return err
	})
	cmd.PreRunE = project.beforeSwitch(on, &root)
	project.add(cmd)
	return cmd
}

func newWorkerList() *cobra.Command {
	return projectList{
		all:  "list those of all projects with started workers",
		idle: "workers are started, but nothing runs while the daemon is not running",
		list: func(ctx context.Context, p *Daemon, root string, _ []string) (term.Glimpse, error) {
			all, err := p.Workers(ctx, root)
			return workerList(all, time.Now), err
		},
	}.command(&cobra.Command{
		Use:   "list",
		Short: "List workers with their queues",
		Long: `List the workers of the project's approved runbooks, with the items of their queues. With --all, list
the workers of all projects with started workers.

Exit code 0: listed, or no daemon is running. 3: the daemon crashed or does not answer.`,
		Example: `  stopgate worker list
  stopgate worker list --all --json`,
		Args: term.NoArgs,
	})
}

// workerList is workers at one moment.
func workerList(all []daemonapi.Worker, now func() time.Time) term.Glimpse {
	return term.List[daemonapi.Worker]{
		All:  all,
		Fact: func(w *daemonapi.Worker) string { return "worker " + plain.Line(w.Name) + ": " + workerState(w) },
		Draw: func(p term.Paint, width, height int) []string { return workerLines(all, now(), p, width, height) },
	}
}

func workerState(w *daemonapi.Worker) string {
	if w.On {
		return "started"
	}
	return "stopped"
}

func workerLines(all []daemonapi.Worker, now time.Time, p term.Paint, width, height int) []string {
	if len(all) == 0 {
		return []string{term.Cut("no workers", width), p.Faint(term.Cut("a worker of a runbook runs a pipeline for each item of a queue", width))}
	}
	rows := [][]string{{"NAME", "PROJECT", "QUEUE", "PIPELINE", "STATE", "PENDING", "RUNNING", "DEAD", ""}}
	for i := range all {
		w := &all[i]
		rows = append(rows, []string{
			plain.Line(w.Name), plain.Line(filepath.Base(w.Project)), plain.Line(w.Queue), plain.Line(w.Pipeline), workerState(w),
			fmt.Sprint(w.Pending), fmt.Sprintf("%d of %d", w.Running, w.Limit), fmt.Sprint(w.Dead), sourceLine(w.Source, now),
		})
	}
	return term.Fit(term.Table(rows, width, term.Headed(p, func(row, column int, text string) string {
		if column == 8 && all[row].Source != nil && all[row].Source.Error != "" {
			return p.Red(text)
		}
		return text
	})), height)
}

// sourceLine is how the source of a queue is.
func sourceLine(s *daemonapi.WorkSource, now time.Time) string {
	switch {
	case s == nil:
		return ""
	case s.Error != "":
		return "source: " + plain.Line(s.Error)
	case s.Asked == nil:
		return "source: not asked yet"
	}
	return "source: asked " + term.Age(*s.Asked, now) + " ago"
}

// readItems reads a file with items, or standard input.
func readItems(in io.Reader, from string) ([]byte, error) {
	if from != "-" {
		return regular.Read(from, mostRead)
	}
	text, err := io.ReadAll(io.LimitReader(in, mostRead+1))
	if err == nil && len(text) > mostRead {
		err = fmt.Errorf("more than %d MiB", mostRead>>20)
	}
	return text, err
}
