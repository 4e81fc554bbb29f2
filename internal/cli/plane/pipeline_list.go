package plane

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// listLength is how many are listed, unless more are under way.
const listLength = 20

func newPipelineList() *cobra.Command {
	var status string
	cmd := lists(&cobra.Command{
		Use:   "list",
		Short: "List running and recent pipelines",
		Long: fmt.Sprintf(`List the pipelines of all projects, newest first: all that have not ended, and recent ones up to
a total of %d. STATUS is %s, %s, %s, %s, %s, %s, or %s if its record is damaged.

Exit code 0: listed, or no daemon is running. 3: the daemon crashed or does not answer.`, listLength, ownerQueued, ownerRunning, ownerWaiting, ownerDone, ownerFailed, ownerCancelled, ownerHeld),
		Example: `  stopgate pipeline list
  stopgate pipeline list --status waiting
  stopgate pipeline list --watch
  stopgate pipeline list --all --json | jq -r '.[] | select(.status == "failed") | .id'`,
		PreRunE: func(*cobra.Command, []string) error {
			if status == "" {
				return nil
			}
			return oneOf("--status", status, ownerStates())
		},
	}, "list all pipelines", func(ctx context.Context, p *Plane, all bool) (term.Glimpse, error) {
		owners, err := p.Pipelines(ctx, daemonapi.Filter{Status: status})
		return ownerList(choose(owners, all), status, time.Now), err
	})
	cmd.Flags().StringVar(&status, "status", "", "list only pipelines with this status")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(ownerStates(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// lists makes a command that shows a list once, or with --watch again and again. more is what
// --all adds to it.
func lists(cmd *cobra.Command, more string, look func(ctx context.Context, p *Plane, all bool) (term.Glimpse, error)) *cobra.Command {
	all := cmd.Flags().Bool("all", false, more)
	follow := cmd.Flags().Bool("watch", false, "keep showing changes until Ctrl-C")
	cmd.Args, cmd.ValidArgsFunction = term.NoArgs, cobra.NoFileCompletions
	return asks(cmd, func(ctx context.Context, p *Plane, _ []string) error {
		look := func(ctx context.Context) (term.Glimpse, error) { return look(ctx, p, *all) }
		if *follow {
			return p.Watch(ctx, "", look)
		}
		seen, err := look(ctx)
		switch {
		case IsDown(err) && p.remains() == "":
			return p.listNothing()
		case err != nil:
			return err
		}
		return term.Once(p.out, p.asJSON, seen)
	})
}

// listNothing is a list where no daemon runs, and nothing says that one should.
func (p *Plane) listNothing() error {
	const why = "the daemon is not running; start it with: stopgate daemon start"
	if !p.asJSON {
		_, err := fmt.Fprintln(p.out, why)
		return err
	}
	fmt.Fprintln(p.errOut, "stopgate: "+why)
	return term.PrintJSON(p.out, []struct{}{})
}

// choose keeps those that are under way and the newest others.
func choose(owners []daemonapi.Owner, all bool) []daemonapi.Owner {
	kept := []daemonapi.Owner{}
	live := 0
	for i := range owners {
		if !past(&owners[i]) {
			live++
		}
	}
	room := max(0, listLength-live)
	for i := range owners {
		if past(&owners[i]) && !all {
			if room == 0 {
				continue
			}
			room--
		}
		kept = append(kept, owners[i])
	}
	return kept
}

// past reports whether an owner is one that people need not see: one that is held they do.
func past(o *daemonapi.Owner) bool { return atEnd(o) && o.Status != ownerHeld }

// ownerList is pipelines at one moment; status is that of those that were asked for, else "".
func ownerList(owners []daemonapi.Owner, status string, now func() time.Time) term.Glimpse {
	return term.List[daemonapi.Owner]{
		All:  owners,
		Fact: func(o *daemonapi.Owner) string { return title(o) + ": " + ownerState(o) },
		Draw: func(p term.Paint, width, height int) []string {
			return ownerLines(owners, status, now(), p, width, height)
		},
	}
}

func ownerLines(owners []daemonapi.Owner, status string, now time.Time, p term.Paint, width, height int) []string {
	if len(owners) == 0 && status != "" {
		return []string{term.Cut("no pipelines with status "+status, width)}
	}
	if len(owners) == 0 {
		return []string{term.Cut("no pipelines", width), p.Faint(term.Cut("list what you can start: stopgate start", width))}
	}
	rows := [][]string{{"ID", "NAME", "PROJECT", "STEP", "STATUS", "AGE", ""}}
	for i := range owners {
		o := &owners[i]
		step := plain.Line(o.Step)
		if atEnd(o) {
			step = "-"
		}
		rows = append(rows, []string{shortID(o.ID), plain.Line(o.Name), plain.Line(filepath.Base(o.Project)), step, o.Status, term.Age(o.Created, now), what(o)})
	}
	return term.Fit(term.Table(rows, width, term.Headed(p, func(row, column int, text string) string {
		if column == 4 || column == 6 {
			return inState(p, owners[row].Status, text)
		}
		return text
	})), height)
}

// what says why an owner failed or waits.
func what(o *daemonapi.Owner) string {
	switch {
	case o.Decision != nil && o.Status == ownerWaiting:
		return "decision " + shortID(o.Decision.ID) + ": " + plain.Line(o.Decision.Context)
	case o.Status == ownerFailed:
		return plain.Line(o.Error)
	case o.Status == ownerCancelled || o.Status == ownerQueued:
		return plain.Line(o.Reason)
	case o.Status == ownerHeld:
		return "record damaged: " + plain.Line(o.Held)
	}
	return ""
}
