package daemon

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

func newOwnerWait(group string) *cobra.Command {
	cmd := asks(&cobra.Command{
		Use:   "wait ID…",
		Short: "Wait until " + anOwner(group) + " ends or needs a decision",
		Long: `Wait until ` + anOwner(group) + ` has ended or waits for a decision, and print what happens. With
several ids, wait for all of them. If it is on a machine of the fleet that does not report, wait says so on
stderr, and keeps waiting: the machine may come back.

Exit code 1: failed. 4: cancelled. 3: held because its record is damaged, waiting for a decision
(see stopgate decision list), or the daemon is not running. 0: done. With several ids, the first of
these that applies.`,
		Example: fmt.Sprintf(`  stopgate %s wait 3f9a12bc && ./deploy
  stopgate %s wait 3f9a12bc 77d00b1e --json`, group, group),
		Args:              someArgs,
		ValidArgsFunction: ownerIDs(kindOf(group), true, math.MaxInt),
	}, func(ctx context.Context, p *Daemon, args []string) error {
		var w waiting
		for _, arg := range args {
			id, err := p.resolve(ctx, arg)
			if err != nil {
				return err
			}
			w.ids = append(w.ids, id)
		}
		return w.run(ctx, p)
	})
	cmd.Flags().Lookup("json").Usage = "print JSON, one line per change"
	return cmd
}

// waiting is for owners to come to their end.
type waiting struct {
	ids    []string
	seen   []daemonapi.Owner
	silent map[string]bool // machines that have not reported, which was said
}

func (w *waiting) run(ctx context.Context, p *Daemon) error {
	news := "" // of all
	if len(w.ids) == 1 {
		news = w.ids[0]
	}
	if err := p.Watch(ctx, news, func(ctx context.Context) (term.Glimpse, error) { return w.look(ctx, p) }); err != nil {
		return err
	}
	for _, status := range []string{ownerFailed, ownerCancelled, ownerHeld, ownerWaiting} {
		for i := range w.seen {
			if w.seen[i].Status == status {
				return endOf(&w.seen[i])
			}
		}
	}
	return nil
}

// look asks for those that are not at their end.
func (w *waiting) look(ctx context.Context, p *Daemon) (term.Glimpse, error) {
	if w.seen == nil {
		w.seen = make([]daemonapi.Owner, len(w.ids))
	}
	all := make(ownersShow, len(w.ids))
	for i, id := range w.ids {
		if w.seen[i].ID == "" || !atEnd(&w.seen[i]) || removing(&w.seen[i]) {
			o, err := p.Owner(ctx, id)
			if err != nil {
				return nil, err
			}
			w.seen[i] = o
			w.tellSilence(p, o.Away)
		}
		all[i] = &ownerShow{owner: w.seen[i], now: time.Now}
	}
	return all, nil
}

// tellSilence says once that a machine does not report, and that it does again.
func (w *waiting) tellSilence(p *Daemon, a daemonapi.Away) {
	silent := a.Ago() != ""
	if silent == w.silent[a.Host] {
		return
	}
	if w.silent == nil {
		w.silent = map[string]bool{}
	}
	w.silent[a.Host] = silent
	if !silent {
		fmt.Fprintf(p.errOut, "stopgate: %s reports again\n", plain.Line(a.Host))
		return
	}
	fmt.Fprintf(p.errOut, "stopgate: %s last reported %s; still waiting\n", plain.Line(a.Host), a.Ago())
}

// ownersShow is several owners at one moment.
type ownersShow []*ownerShow

func (s ownersShow) Lines(p term.Paint, width, height int) []string {
	var lines []string
	for _, one := range s {
		lines = append(lines, inState(p, one.owner.Status, term.Cut(title(&one.owner)+": "+ownerState(&one.owner), width)))
		lines = append(lines, decisionLines(p, one.owner.Decision, width)...)
	}
	return term.Fit(lines, height)
}

func (s ownersShow) Facts() (all []term.Fact) {
	for _, one := range s {
		all = append(all, one.Facts()...)
	}
	return all
}

func (s ownersShow) JSON() any {
	all := make([]daemonapi.Owner, len(s))
	for i, one := range s {
		all[i] = one.owner
	}
	return all
}

func (s ownersShow) Over() bool {
	for _, one := range s {
		if underWay(&one.owner) || removing(&one.owner) {
			return false
		}
	}
	return true
}

// removing reports whether a workspace is being removed: until then its branch is in use.
func removing(o *daemonapi.Owner) bool {
	return slices.ContainsFunc(o.Workspaces, func(w daemonapi.Workspace) bool { return w.State == "removing" })
}
