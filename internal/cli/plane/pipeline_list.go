package plane

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/client"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// listLength is how many are listed, unless more are under way.
const listLength = 20

type listOptions struct {
	status string
	all    bool
	asJSON bool
	follow bool
}

func newPipelineList() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the pipelines that are under way, and the latest that ended",
		Long: fmt.Sprintf(`List the pipelines of all projects, the newest first: those that are under way, and as many of
those that are at their end as make %d. STATUS is %s, %s, %s, %s or %s.

Exit code 0: listed. 3: the daemon does not run.`, listLength, ownerRunning, ownerWaiting, ownerDone, ownerFailed, ownerCancelled),
		Example: `  stopgate pipeline list
  stopgate pipeline list --status waiting
  stopgate pipeline list --watch
  stopgate pipeline list --all --json | jq -r '.[] | select(.status == "failed") | .id'`,
		Args: term.NoArgs,
		RunE: Asking(func(ctx context.Context, p *Plane, _ []string) error {
			if o.status != "" {
				if err := oneOf("--status", o.status, ownerStates()); err != nil {
					return err
				}
			}
			look := func(ctx context.Context) (*ownerList, error) {
				owners, err := p.Pipelines(ctx, client.Filter{Status: o.status})
				return &ownerList{owners: o.choose(owners), status: o.status, now: time.Now}, err
			}
			return showList(ctx, p, o, look)
		}),
	}
	cmd.Flags().StringVar(&o.status, "status", "", "only those in this state")
	cmd.Flags().BoolVar(&o.all, "all", false, "all that the daemon knows")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.follow, "watch", false, "go on as they change, until Ctrl-C")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(ownerStates(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// choose keeps those that are under way and the newest others.
func (o *listOptions) choose(owners []client.Owner) []client.Owner {
	kept := []client.Owner{}
	live := 0
	for i := range owners {
		if !atEnd(&owners[i]) {
			live++
		}
	}
	room := max(0, listLength-live)
	for i := range owners {
		if atEnd(&owners[i]) && !o.all {
			if room == 0 {
				continue
			}
			room--
		}
		kept = append(kept, owners[i])
	}
	return kept
}

// showList shows a list once, or again and again.
func showList[L term.Glimpse](ctx context.Context, p *Plane, o listOptions, look func(context.Context) (L, error)) error {
	if o.follow {
		return p.Watch(ctx, "", o.asJSON, func(ctx context.Context) (term.Glimpse, error) { return look(ctx) })
	}
	list, err := look(ctx)
	if err != nil {
		return err
	}
	if o.asJSON {
		return term.PrintJSON(p.out, list.JSON())
	}
	for _, line := range list.Lines(term.PaintFor(p.out), term.WidthOf(p.out), math.MaxInt) {
		if _, err := fmt.Fprintln(p.out, line); err != nil {
			return err
		}
	}
	return nil
}

// ownerList is pipelines at one moment.
type ownerList struct {
	owners []client.Owner
	status string // of those that were asked for, else ""
	now    func() time.Time
}

func (l *ownerList) JSON() any { return l.owners }

func (l *ownerList) Over() bool { return false }

func (l *ownerList) Facts() []string {
	var all []string
	for i := range l.owners {
		s := ownerShow{owner: l.owners[i]}
		all = append(all, title(&l.owners[i])+": "+s.state())
	}
	return all
}

func (l *ownerList) Lines(p term.Paint, width, height int) []string {
	if len(l.owners) == 0 && l.status != "" {
		return []string{term.Cut("no pipelines with the status "+l.status, width)}
	}
	if len(l.owners) == 0 {
		return []string{term.Cut("no pipelines", width), p.Faint(term.Cut("see what can be started with: stopgate start", width))}
	}
	now := l.now()
	rows := [][]string{{"ID", "NAME", "PROJECT", "STEP", "STATUS", "AGE", ""}}
	for i := range l.owners {
		o := &l.owners[i]
		step := plain.Line(o.Step)
		if atEnd(o) {
			step = "-"
		}
		rows = append(rows, []string{shortID(o.ID), plain.Line(o.Name), plain.Line(filepath.Base(o.Project)), step, o.Status, ageOf(o.Created, now), what(o)})
	}
	return term.Fit(term.Table(rows, width, func(row, column int, text string) string {
		switch {
		case row == 0:
			return p.Faint(text)
		case column == 4 || column == 6:
			return inState(p, l.owners[row-1].Status, text)
		}
		return text
	}), height)
}

// what says why an owner failed or waits.
func what(o *client.Owner) string {
	switch {
	case o.Decision != nil && o.Status == ownerWaiting:
		return "decision " + shortID(o.Decision.ID) + ": " + plain.Line(o.Decision.Context)
	case o.Status == ownerFailed:
		return plain.Line(o.Error)
	}
	return ""
}
