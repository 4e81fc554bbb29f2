package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/question"
)

// pruning is what prune is asked for.
type pruning struct {
	dryRun    bool
	yes       bool
	olderThan time.Duration
	in        io.Reader
}

func NewPrune() *cobra.Command {
	var o pruning
	cmd := acts(&cobra.Command{
		Use:   "prune",
		Short: "Remove finished pipelines with their logs and files",
		Long: `Remove pipelines and agent runs that have ended, with their logs and files, and trim their events
from the daemon's store. Removed are those that ended longer ago than retention.keep in the global
config (30 days), and then the oldest until the rest takes at most retention.keep_size (1 GiB).
The daemon does this automatically, once an hour; this command does it now, and asks first.

Whatever has not ended is kept. stopgate log verify shows what was trimmed, when and by whom.
The daemon is started if it is not running, except with --dry-run. Its agents cannot run this command.

Exit code 0: removed, or nothing to remove. 1: not confirmed, there is no terminal to
ask, or something could not be removed. 2: usage error. 3: the daemon could not be started, or is not running with --dry-run.`,
		Example: `  stopgate prune --dry-run
  stopgate prune --older-than 7d
  stopgate prune --yes --json | jq .bytes`,
		Args: term.NoArgs,
	}, func(ctx context.Context, p *Daemon, _ []string) error { return o.run(ctx, p) })
	act := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.dryRun {
			return Asking(func(ctx context.Context, p *Daemon, _ []string) error { return o.run(ctx, p) })(cmd, args)
		}
		return act(cmd, args)
	}
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		o.in = cmd.InOrStdin()
		if stdin, ok := o.in.(*os.File); !o.yes && !o.dryRun && ok && !xterm.IsTerminal(int(stdin.Fd())) {
			return term.WithHint(errors.New("cannot prune without a terminal; a script may pass --yes"), "look first with: stopgate prune --dry-run")
		}
		return notForAgents(cmd, args)
	}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only show what would be removed")
	cmd.Flags().Var((*term.DurationFlag)(&o.olderThan), "older-than", "remove what ended longer ago than this, such as 7d; overrides retention.keep")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	return cmd
}

func (o *pruning) run(ctx context.Context, p *Daemon) error {
	// Both requests are about the same moment: what was agreed to is what goes.
	wish := daemonapi.Prune{DryRun: true}
	if o.olderThan > 0 {
		before := time.Now().Add(-o.olderThan)
		wish.Before = &before
	}
	if !o.yes || o.dryRun {
		plan, err := p.Prune(ctx, wish)
		if err != nil || o.dryRun {
			return o.show(p, plan, err)
		}
		wish.Before = &plan.Before
		if agreed, err := o.agreed(p, plan); err != nil || !agreed {
			return term.WithCode(err, term.ExitFailed)
		}
	}
	wish.DryRun = false
	done, err := p.Prune(ctx, wish)
	return o.show(p, done, err)
}

// agreed shows what would be removed, and asks.
func (o *pruning) agreed(p *Daemon, plan daemonapi.Pruned) (bool, error) {
	printPruned(p.errOut, plan)
	if len(plan.Owners) == 0 {
		return true, nil // what is trimmed is nothing that people see
	}
	return question.Asker{In: bufio.NewReader(o.in), Out: p.errOut}.Agreed("Remove them?", "no")
}

func (o *pruning) show(p *Daemon, report daemonapi.Pruned, err error) error {
	if err != nil {
		return err
	}
	if p.asJSON {
		err = term.PrintJSON(p.out, report)
	} else {
		printPruned(p.out, report)
	}
	for _, trouble := range report.Trouble {
		fmt.Fprintln(p.errOut, "stopgate: "+plain.Line(trouble))
	}
	if err == nil && len(report.Trouble) > 0 {
		err = term.ErrSilent
	}
	return err
}

// mostPruned is how many are listed by name.
const mostPruned = 20

func printPruned(out io.Writer, r daemonapi.Pruned) {
	word := "removed"
	if r.DryRun {
		word = "would remove"
	}

	for i, o := range r.Owners {
		if i == mostPruned {
			fmt.Fprintf(out, "  … and %d more (--json lists all)\n", len(r.Owners)-mostPruned)
			break
		}
		kind := daemonapi.KindWord(o.Kind)
		fmt.Fprintf(out, "  %s %s %s, %s %s ago, %s\n", kind, shortID(o.ID), plain.Line(o.Name), o.Status, term.Age(o.Ended, time.Now()), plain.Size(o.Bytes))
	}

	pipelines, runs := 0, 0
	for _, o := range r.Owners {
		if o.Kind == "run" {
			runs++
		} else {
			pipelines++
		}
	}

	fmt.Fprintf(out, "%s %s and %s: %s, %s\n", word, plain.Count(pipelines, "pipeline"), plain.Count(runs, "agent run"), plain.Count(r.Files, "file"), plain.Size(r.Bytes))
	if r.Events > 0 {
		fmt.Fprintf(out, "trimmed %s from the store\n", plain.Count(r.Events, "event"))
	}
	fmt.Fprintf(out, "kept %d that have ended, %s\n", r.Kept, plain.Size(r.KeptBytes))
}
