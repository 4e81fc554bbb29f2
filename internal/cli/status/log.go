package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/here"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

type logOptions struct {
	follow   bool
	last     int // records; 0 for all
	session  string
	event    string
	decision string
	here     bool
	since    time.Duration
	asJSON   bool

	project *spellings // nil for all
}

// decisions are what a hook call ends with.
var decisions = []string{"allow", "block", "reject"}

func NewLog() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show what was decided, and why",
		Long: `Show the journal of all projects: one line for each hook call, with its decision and the
reason, and one for each signal of an agent. A call without an answer enforced nothing.

The calls that doctor makes are shown with --session doctor and with --json only.
Damaged records are reported on standard error; the others are shown.

Exit code 0: shown. 2: usage error, or no such session. 130: --follow was interrupted.`,
		Example: `  stopgate log -n 20 --here
  stopgate log --decision block --since 1h
  stopgate log --follow --event Stop
  stopgate log --json | jq 'select(.decision == "block")'`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep running and show new records")
	cmd.Flags().IntVarP(&o.last, "last", "n", 0, "show only the last N records")
	cmd.Flags().BoolVar(&o.here, "here", false, "show only records of this project")
	cmd.Flags().StringVar(&o.session, "session", "", "show only this session (an id prefix is enough)")
	cmd.Flags().StringVar(&o.event, "event", "", "show only this hook event")
	cmd.Flags().StringVar(&o.decision, "decision", "", "show only this decision: allow, block or reject")
	cmd.Flags().Var((*term.DurationFlag)(&o.since), "since", "show only records younger than this, such as 30m or 3d")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print one JSON object per record")
	completeLog(cmd)
	cmd.AddCommand(newLogVerify())
	return cmd
}

func (o *logOptions) run(cmd *cobra.Command) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	state, err := paths.StateDir()
	if err != nil {
		return err
	}
	if err := o.resolve(state); err != nil {
		return err
	}
	if o.here {
		h, err := here.MustExist(here.FindHere())
		if err != nil {
			return err
		}
		o.project = &spellings{root: h.Root}
	}

	ctx := cmd.Context()
	if o.follow { // from the first record on: Ctrl-C counts as soon as there is something to see
		var stop context.CancelFunc
		ctx, stop = term.UntilSignal(cmd)
		defer stop()
	}
	dir := filepath.Join(state, "journal")
	j := journal.New(dir, journal.Limits{})
	view := newLogView(cmd.OutOrStdout())
	view.projects, view.last = true, o.last
	end, err := o.show(cmd.ErrOrStderr(), view, j.Read(journal.Position{}))
	if err != nil {
		return err
	}
	if o.follow {
		return o.goOn(ctx, cmd, view, j, end)
	}

	if !view.printed && !o.asJSON {
		fmt.Fprintln(cmd.ErrOrStderr(), "stopgate: no records to show; the journal is in "+dir)
	}
	if err := view.unanswered(); err != nil {
		return err
	}
	return view.release()
}

// resolve finds the session that is meant. doctor plays many, and one that is followed may yet
// begin.
func (o *logOptions) resolve(state string) error {
	if o.session == "" || o.follow || strings.TrimSuffix(doctor.SessionPrefix, "-") == strings.TrimSuffix(o.session, "-") {
		return nil
	}
	session, err := here.Session(state, o.session)
	if err == nil {
		o.session = session
	}
	return err
}

// goOn shows what is written from a position on, until it is interrupted.
func (o *logOptions) goOn(ctx context.Context, cmd *cobra.Command, view *logView, j *journal.Journal, from journal.Position) error {
	if err := view.release(); err != nil {
		return err
	}
	if _, err := o.show(cmd.ErrOrStderr(), view, j.Follow(ctx, from)); err != nil {
		return err
	}

	if err := view.unanswered(); err != nil {
		return err
	}
	return term.WithCode(nil, term.ExitInterrupted)
}

// show shows the entries that are wanted, and returns where they end.
func (o *logOptions) show(errOut io.Writer, view *logView, entries iter.Seq2[journal.Entry, error]) (end journal.Position, err error) {
	for entry, err := range entries {
		if err != nil {
			return end, err
		}
		end = entry.Position
		switch {
		case entry.Record == nil:
			fmt.Fprintf(errOut, "stopgate: %s\n", unusable(entry))
		case !o.wants(entry.Record):
		case o.asJSON:
			err = view.json(entry.Record)
		default:
			err = view.line(entry.Record)
		}
		if err != nil {
			return end, err
		}
	}
	return end, nil
}

func (o *logOptions) check(cmd *cobra.Command) error {
	if cmd.Flags().Changed("last") && o.last < 1 {
		return term.BadUsage(errors.New("-n must be at least 1"), "for example: stopgate log -n 20")
	}
	if o.decision != "" && !slices.Contains(decisions, o.decision) {
		return term.BadUsage(fmt.Errorf("unknown decision %q", o.decision), document.Hint(o.decision, decisions, "the decisions are: "+strings.Join(decisions, ", ")))
	}
	names := eventNames()
	if o.event == "" || slices.Contains(names, o.event) {
		return nil
	}
	return term.BadUsage(fmt.Errorf("unknown event %q", o.event), document.Hint(o.event, names, "the events are: "+strings.Join(names, ", ")))
}

// eventNames are those of hooks and of what agents emit.
func eventNames() []string {
	return append(document.Strings(hook.Events()), event.AgentSignal, event.AgentIdle, event.AgentPrompt, event.AgentStop)
}

// wants reports whether a record is shown. What doctor tries belongs to no session of a person, so only
// programs and those who ask for it see it.
func (o *logOptions) wants(r *event.Record) bool {
	if o.session == "" && !o.asJSON && strings.HasPrefix(r.Session, doctor.SessionPrefix) {
		return false
	}
	return (o.session == "" || strings.HasPrefix(r.Session, o.session)) &&
		(o.event == "" || o.event == r.Event) &&
		(o.decision == "" || o.decision == r.Decision) &&
		(o.project == nil || o.project.same(r.Project)) &&
		(o.since == 0 || time.Since(r.Time) <= o.since)
}

func unusable(entry journal.Entry) string {
	if entry.Damage != nil {
		return "damaged record: " + entry.Damage.String()
	}
	return fmt.Sprintf("skipped a record that ends at %s: a newer stopgate wrote it (version %d)", entry.Position, entry.Newer)
}
