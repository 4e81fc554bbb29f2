package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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
	var n narrow
	var cmd *cobra.Command
	cmd = lists(&cobra.Command{
		Use:   "list",
		Short: "List running and recent pipelines",
		Long: fmt.Sprintf(`List the pipelines of all projects, newest first: all that have not ended, and recent ones up to
a total of %d, or of --limit. STATUS is %s, %s, %s, %s, %s, %s, or %s
if its record is damaged. In a fleet, those of all machines are listed; HOST is . for this machine,
and for a machine that does not answer it includes the age of the entry.

Exit code 0: listed, or no daemon is running. 3: the daemon crashed or does not answer.`, listLength, ownerQueued, ownerRunning, ownerWaiting, ownerDone, ownerFailed, ownerCancelled, ownerHeld),
		Example: `  stopgate pipeline list
  stopgate pipeline list --status waiting
  stopgate pipeline list --project . --since 7d --limit 100
  stopgate pipeline list --host vps
  stopgate pipeline list --watch
  stopgate pipeline list --json | jq -r '.[] | select(.status == "failed").id'`,
		PreRunE: func(*cobra.Command, []string) error {
			if err := n.check(cmd); err != nil || status == "" {
				return err
			}
			return oneOf("--status", status, ownerStates())
		},
	}, "list all pipelines", func(ctx context.Context, p *Daemon, all bool) (term.Glimpse, error) {
		if err := p.checkHost(ctx, n.host); err != nil {
			return nil, err
		}
		ask := func(f daemonapi.Filter) ([]daemonapi.Owner, error) {
			return oneByOne(func(f daemonapi.Filter) ([]daemonapi.Owner, error) { return p.Pipelines(ctx, f) }, f)
		}
		owners, more, err := choose(ask, n.filter(), status, all)
		return ownerList(owners, status, more, time.Now), err
	})
	cmd.Flags().StringVar(&status, "status", "", "list only pipelines with this status")
	n.flags(cmd, "pipelines that started", listLength, "list at most this many, and all that have not ended")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(ownerStates(), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	return cmd
}

// lists makes a command that shows a list once, or with --watch again and again. more is what
// --all adds to it.
func lists(cmd *cobra.Command, more string, look func(ctx context.Context, p *Daemon, all bool) (term.Glimpse, error)) *cobra.Command {
	all := cmd.Flags().Bool("all", false, more)
	follow := cmd.Flags().Bool("watch", false, "keep showing changes until Ctrl-C")
	cmd.Args = term.NoArgs
	return asks(cmd, func(ctx context.Context, p *Daemon, _ []string) error {
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
func (p *Daemon) listNothing() error { return p.listEmpty(noDaemon) }

const noDaemon = "the daemon is not running; start it with: stopgate daemon start"

// nothingToList reports whether a list of the fleet's is empty because no daemon runs, where none should, or because
// this machine is not in a fleet, and says which.
func (p *Daemon) nothingToList(ctx context.Context, err error) (nothing bool, why string) {
	if IsDown(err) {
		return p.remains() == "", noDaemon
	}
	refusal, ok := errors.AsType[*daemonapi.Error](err)
	if !ok || refusal.Code != "unavailable" {
		return false, ""
	}
	f, err := p.Fleet(ctx)
	return err == nil && f.Name == "", plain.Line(refusal.Error() + "; " + refusal.Hint)
}

// listEmpty says why a list is empty. Nothing is wrong.
func (p *Daemon) listEmpty(why string) error {
	if !p.asJSON {
		_, err := fmt.Fprintln(term.Prose(p.out), why)
		return err
	}
	fmt.Fprintln(p.errOut, "stopgate: "+why)
	return term.PrintJSON(p.out, []struct{}{})
}

// choose are the owners that have not ended and the newest others, up to the filter's limit; or all
// of them. It reports whether there are more.
func choose(ask func(daemonapi.Filter) ([]daemonapi.Owner, error), f daemonapi.Filter, status string, all bool) (owners []daemonapi.Owner, more bool, err error) {
	room := f.Limit
	f.Limit = 0
	if all {
		f.Status = status
		owners, err = ask(f)
		return owners, false, err
	}

	live, ended := statesOf(status)
	owners = []daemonapi.Owner{}
	if f.Status = live; live != "" {
		if owners, err = ask(f); err != nil {
			return nil, false, err
		}
	}
	if ended == "" {
		return owners, false, nil
	}

	room = max(0, room-len(owners))
	f.Status, f.Limit = ended, room+1
	others, err := ask(f)
	if more = len(others) > room; more {
		others = others[:room]
	}
	return newestFirst(others, owners), more, err
}

// oneByOne asks for each state by itself where the daemon is an older one, which does not know lists of them. A
// state that it does not know has no owners.
func oneByOne(ask func(daemonapi.Filter) ([]daemonapi.Owner, error), f daemonapi.Filter) ([]daemonapi.Owner, error) {
	all, err := ask(f)
	states := strings.Split(f.Status, ",")
	if !isInvalid(err) || len(states) < 2 {
		return all, err
	}
	all = []daemonapi.Owner{}
	for _, f.Status = range states {
		some, err := ask(f)
		if err != nil && !isInvalid(err) {
			return nil, err
		}
		all = newestFirst(some, all)
	}
	return all, nil
}

func isInvalid(err error) bool {
	refusal, is := errors.AsType[*daemonapi.Error](err)
	return is && refusal.Code == "invalid"
}

// statesOf are the states of owners that are listed in any case, and of the others, each separated
// by commas: all states, or the one that was asked for.
func statesOf(status string) (live, ended string) {
	var lives, ends []string
	for _, state := range ownerStates() {
		switch {
		case status != "" && status != state:
		case past(&daemonapi.Owner{Status: state}):
			ends = append(ends, state)
		default:
			lives = append(lives, state)
		}
	}
	return strings.Join(lives, ","), strings.Join(ends, ",")
}

// newestFirst are all of both. One that ended between two looks is in both, and the later counts.
func newestFirst(later, earlier []daemonapi.Owner) []daemonapi.Owner {
	all := slices.Clone(later)
	for _, o := range earlier {
		if !slices.ContainsFunc(later, func(other daemonapi.Owner) bool { return other.ID == o.ID }) {
			all = append(all, o)
		}
	}
	slices.SortStableFunc(all, func(a, b daemonapi.Owner) int {
		if a.Created.IsZero() || b.Created.IsZero() { // of a damaged one nothing may be known: it comes first
			return a.Created.Compare(b.Created)
		}
		return b.Created.Compare(a.Created)
	})
	return all
}

// past reports whether an owner is one that people need not see: one that is held they do.
func past(o *daemonapi.Owner) bool { return atEnd(o) && o.Status != ownerHeld }

// ownerList is pipelines at one moment; status is that of those that were asked for, else "". There
// may be more than are listed.
func ownerList(owners []daemonapi.Owner, status string, more bool, now func() time.Time) term.Glimpse {
	return term.List[daemonapi.Owner]{
		All:  owners,
		Fact: func(o *daemonapi.Owner) string { return title(o) + ": " + ownerState(o) },
		Draw: func(p term.Paint, width, height int) []string {
			lines := ownerLines(owners, status, now(), p, width, height)
			if more {
				lines = append(term.Fit(lines, height-1), p.Faint(term.Cut("there are more: stopgate pipeline list --all, or --limit", width)))
			}
			return lines
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
	var away []daemonapi.Away
	for i := range owners {
		o := &owners[i]
		step := plain.Line(o.Step)
		if atEnd(o) {
			step = "-"
		}
		away = append(away, o.Away)
		rows = append(rows, []string{shortID(o.ID), plain.Line(o.Name), plain.Line(filepath.Base(o.Project)), step, o.Status, term.Age(o.Created, now), what(o)})
	}

	colour := withHosts(rows, 1, p, away, func(row, column int, text string) string {
		if column == 4 || column == 6 {
			return inState(p, owners[row].Status, text)
		}
		return text
	})
	return term.Fit(term.Table(rows, width, term.Headed(p, colour)), height)
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
