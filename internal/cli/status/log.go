package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

type logOptions struct {
	follow  bool
	session string
	event   string
	since   time.Duration
	asJSON  bool
}

func NewLog() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the journal: what was asked and what was answered",
		Long: `Show the journal of all projects: what the client asked and what was answered, and what was
emitted about agents. A call that was never answered enforced nothing.

A damaged record is named on standard error; the others are shown.`,
		Example: `  stopgate log --since 1h
  stopgate log --follow --event Stop
  stopgate log --json | jq 'select(.decision == "block")'`,
		Args: term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on as records come in")
	cmd.Flags().StringVar(&o.session, "session", "", "only this session (a prefix will do)")
	cmd.Flags().StringVar(&o.event, "event", "", "only this hook event")
	cmd.Flags().Var((*term.DurationFlag)(&o.since), "since", "only records younger than this, such as 30m or 3d")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "one JSON object per record")
	cmd.AddCommand(newLogVerify())
	return cmd
}

func (o *logOptions) run(ctx context.Context, out, errOut io.Writer) error {
	if err := o.check(); err != nil {
		return err
	}
	state, err := paths.StateDir()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	j := journal.New(filepath.Join(state, "journal"), journal.Limits{})
	entries := j.Read(journal.Position{})
	if o.follow {
		entries = j.Follow(ctx, journal.Position{})
	}
	view := logView{out: out, paint: term.PaintFor(out), projects: true, open: map[string]event.Record{}}
	shown := false
	for entry, err := range entries {
		if err != nil {
			return err
		}
		if entry.Record == nil {
			fmt.Fprintf(errOut, "stopgate: %s\n", unusable(entry))
			continue
		}
		if !o.wants(entry.Record) {
			continue
		}
		shown = true
		if o.asJSON {
			err = view.json(entry.Record)
		} else {
			err = view.line(entry.Record)
		}
		if err != nil {
			return err
		}
	}
	if o.asJSON {
		return nil
	}
	if !shown && !o.follow {
		fmt.Fprintln(errOut, "stopgate: no records to show; the journal is in "+filepath.Join(state, "journal"))
	}
	return view.unanswered()
}

func (o *logOptions) check() error {
	if o.since < 0 {
		return term.BadUsage(errors.New("--since must not be negative"), "for example: stopgate log --since 1h")
	}
	emitted := []string{event.AgentSignal, event.AgentIdle, event.AgentPrompt, event.AgentStop}
	if o.event == "" || hook.Event(o.event).Known() || slices.Contains(emitted, o.event) {
		return nil
	}
	names := slices.Concat(document.Strings(hook.Events()), emitted)
	return term.BadUsage(fmt.Errorf("unknown event %q", o.event), document.Hint(o.event, names, "the events are: "+strings.Join(names, ", ")))
}

func (o *logOptions) wants(r *event.Record) bool {
	return (o.session == "" || strings.HasPrefix(r.Session, o.session)) &&
		(o.event == "" || o.event == r.Event) &&
		(o.since == 0 || time.Since(r.Time) <= o.since)
}

func unusable(entry journal.Entry) string {
	if entry.Damage != nil {
		return "damaged record: " + entry.Damage.String()
	}
	return fmt.Sprintf("a record of version %d, written by a newer stopgate, ends at %s", entry.Newer, entry.Position)
}

// logView prints records for a person: one line a call, once it is answered.
type logView struct {
	out      io.Writer
	paint    term.Paint
	projects bool                    // name them
	open     map[string]event.Record // received, not answered yet
	order    []string
}

func (v *logView) json(r *event.Record) error { return term.PrintLine(v.out, r) }

func (v *logView) line(r *event.Record) error {
	if r.Kind == event.Received {
		v.open[r.Call] = *r
		v.order = append(v.order, r.Call)
		return nil
	}
	if r.Kind == event.Emitted {
		return v.emitted(r)
	}
	delete(v.open, r.Call)
	_, err := fmt.Fprintf(v.out, "%s  %s  %s%s\n", v.head(r), v.decision(r), v.paint.Faint(v.where(r)), v.opinions(r)+logs(r)+effects(r))
	return err
}

// emitted is a line for what was told of an agent.
func (v *logView) emitted(r *event.Record) error {
	word := event.Word{}
	if r.Word != nil {
		word = *r.Word
	}
	text := strings.TrimSpace(word.Kind + word.Type)
	if word.Message != "" {
		text += ": " + plain.Line(word.Message)
	}
	_, err := fmt.Fprintln(v.out, strings.TrimRight(fmt.Sprintf("%s  %s  %s  %s", v.head(r), v.paint.Green("told  "), v.paint.Faint(strings.Map(printable, word.Agent)), strings.Map(printable, text)), " "))
	return err
}

// unanswered lists the calls that were received and never answered: in them
// nothing was enforced, or they are being judged right now.
func (v *logView) unanswered() error {
	for _, call := range v.order {
		r, open := v.open[call]
		if !open {
			continue
		}
		if _, err := fmt.Fprintf(v.out, "%s  %s  %s  not answered: a hook still at work, or one that was ended before it could enforce anything\n",
			v.head(&r), v.paint.Yellow("open  "), v.paint.Faint(v.where(&r))); err != nil {
			return err
		}
	}
	return nil
}

// head is when and what. UserPromptSubmit and most others fit the column.
func (v *logView) head(r *event.Record) string {
	return fmt.Sprintf("%s  %-18s", r.Time.Local().Format(time.DateTime), describe(r))
}

func (v *logView) decision(r *event.Record) string {
	text := fmt.Sprintf("%-6s", r.Decision)
	switch {
	case r.Decision != "allow":
		return v.paint.Red(text)
	case slices.ContainsFunc(r.Verdicts, func(o event.Verdict) bool { return o.Outcome != keeper.Passed.String() }):
		return v.paint.Yellow(text) // let pass, but not because all was well
	}
	return v.paint.Green(text)
}

func (v *logView) opinions(r *event.Record) string {
	var b strings.Builder
	for _, o := range r.Verdicts {
		fmt.Fprintf(&b, "  %s: %s", o.Keeper, strings.ReplaceAll(o.Status, "_", " "))
		if o.DurationMS > 0 {
			fmt.Fprintf(&b, " in %s", (time.Duration(o.DurationMS) * time.Millisecond).Round(time.Millisecond))
		}
		if o.Cost.USD > 0 {
			fmt.Fprintf(&b, " for $%.4f", o.Cost.USD)
		}
		if o.Message != "" {
			for line := range strings.Lines(o.Message) {
				fmt.Fprintf(&b, "\n    %s", strings.Map(printable, strings.TrimSuffix(line, "\n")))
			}
		}
	}
	return b.String()
}

// logs are where to read what gates said that did not pass.
func logs(r *event.Record) string {
	var b strings.Builder
	for _, tree := range r.Trees {
		for _, g := range tree.Gates {
			if g.Log != "" && g.Outcome != string(gauntlet.GatePassed) {
				fmt.Fprintf(&b, "\n    %s %s, log: %s", plain.Name(g.Job), strings.ReplaceAll(g.Outcome, "_", " "), plain.Name(g.Log))
			}
		}
	}
	return b.String()
}

// effects are what was done besides, on a line of their own where messages stand above
// them.
func effects(r *event.Record) string {
	if len(r.Effects) == 0 {
		return ""
	}
	text := "  " + strings.Map(printable, strings.Join(r.Effects, ", "))
	if logs(r) != "" || slices.ContainsFunc(r.Verdicts, func(o event.Verdict) bool { return o.Message != "" }) {
		return "\n  " + text
	}
	return text
}

func describe(r *event.Record) string {
	name := r.Event
	if name == "" {
		name = "(unknown)"
	}
	for _, detail := range []string{r.Enums.Source, r.Enums.Reason, r.Enums.NotificationType, r.Enums.Trigger, r.Enums.ToolName, r.Enums.Error} {
		if detail != "" {
			return name + "(" + detail + ")"
		}
	}
	return name
}

// where is the session, the agent in it and the project. The first letters of
// a session are enough for --session.
func (v *logView) where(r *event.Record) string {
	text := fmt.Sprintf("%-8.8s", r.Session)
	if r.Agent.ID != "" {
		text += "/" + r.Agent.ID
	}
	if v.projects && r.Project != "" {
		text += " " + filepath.Base(r.Project)
	}
	return strings.Map(printable, text)
}

// printable keeps what the client sent from steering the terminal.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}
