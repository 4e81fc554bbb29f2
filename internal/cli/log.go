package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/event"
	"github.com/stopgate/stopgate/internal/journal"
	"github.com/stopgate/stopgate/internal/paths"
)

type logOptions struct {
	follow  bool
	session string
	event   string
	since   time.Duration
	asJSON  bool
}

func newLog() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the journal: what was asked and what was answered",
		Example: `  stopgate log --since 1h
  stopgate log --follow --event Stop
  stopgate log --json | jq 'select(.decision == "block")'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on as records come in")
	cmd.Flags().StringVar(&o.session, "session", "", "only this session (a prefix will do)")
	cmd.Flags().StringVar(&o.event, "event", "", "only this hook event")
	cmd.Flags().Var((*durationFlag)(&o.since), "since", "only records younger than this, such as 30m or 3d")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "one JSON object per record")
	return cmd
}

func (o *logOptions) run(ctx context.Context, out, errOut io.Writer) error {
	state, err := paths.StateDir()
	if err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	j := journal.New(filepath.Join(state, "journal"), journal.Limits{})
	entries := j.Read(journal.Position{})
	if o.follow {
		entries = j.Follow(ctx, journal.Position{})
	}
	view := logView{out: out, paint: paintFor(out), open: map[string]event.Record{}}
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
		if o.asJSON {
			err = view.json(entry.Record)
		} else {
			err = view.line(entry.Record)
		}
		if err != nil {
			return err
		}
	}
	if !o.asJSON {
		return view.unanswered()
	}
	return nil
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
	out   io.Writer
	paint paint
	open  map[string]event.Record // received, not answered yet
	order []string
}

func (v *logView) json(r *event.Record) error {
	enc := json.NewEncoder(v.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

func (v *logView) line(r *event.Record) error {
	if r.Kind == event.Received {
		v.open[r.Call] = *r
		v.order = append(v.order, r.Call)
		return nil
	}
	delete(v.open, r.Call)
	_, err := fmt.Fprintf(v.out, "%s  %-16s %-8s %s%s\n", r.Time.Local().Format(time.DateTime),
		describe(r), v.decision(r), v.paint.faint(where(r)), v.opinions(r))
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
		if _, err := fmt.Fprintf(v.out, "%s  %-16s %s %s  not answered (yet): a hook still at work, or one that was ended before it could enforce anything\n",
			r.Time.Local().Format(time.DateTime), describe(&r), v.paint.yellow("open    "), v.paint.faint(where(&r))); err != nil {
			return err
		}
	}
	return nil
}

func (v *logView) decision(r *event.Record) string {
	text := fmt.Sprintf("%-8s", r.Decision)
	switch r.Decision {
	case "block", "reject":
		return v.paint.red(text)
	}
	return v.paint.green(text)
}

func (v *logView) opinions(r *event.Record) string {
	var b strings.Builder
	for _, o := range r.Verdicts {
		fmt.Fprintf(&b, "  %s: %s", o.Keeper, o.Status)
		if o.DurationMS > 0 {
			fmt.Fprintf(&b, " in %s", (time.Duration(o.DurationMS) * time.Millisecond).Round(time.Millisecond))
		}
		if o.Message != "" {
			fmt.Fprintf(&b, "\n    %s", strings.ReplaceAll(o.Message, "\n", "\n    "))
		}
	}
	return b.String()
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

func where(r *event.Record) string {
	session := r.Session
	if len(session) > 8 {
		session = session[:8]
	}
	if r.Agent.ID != "" {
		session += "/" + r.Agent.ID
	}
	return session
}
