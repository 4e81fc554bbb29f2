package status

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// logView prints records: as JSON, or for a person, one line a call once it is answered, with what
// there is to say about it below.
type logView struct {
	out      io.Writer
	paint    term.Paint
	width    int                     // of a terminal; math.MaxInt elsewhere
	projects bool                    // name them
	last     int                     // how many to print; 0 for all
	printed  bool                    // there was something to print
	held     []string                // the last ones, until they are released
	open     map[string]event.Record // received, not answered yet
	order    []string
}

func newLogView(out io.Writer) *logView {
	return &logView{out: out, paint: term.PaintFor(out), width: term.WidthOf(out), open: map[string]event.Record{}}
}

// write prints a text, or holds it back where only the last ones are wanted.
func (v *logView) write(text string) error {
	v.printed = true
	if v.last == 0 {
		_, err := io.WriteString(v.out, text+"\n")
		return err
	}
	if v.held = append(v.held, text); len(v.held) > v.last {
		v.held = v.held[1:]
	}
	return nil
}

// release prints what was held back. From then on everything is printed at once.
func (v *logView) release() error {
	held := v.held
	v.held, v.last = nil, 0
	for _, text := range held {
		if err := v.write(text); err != nil {
			return err
		}
	}
	return nil
}

func (v *logView) json(r *event.Record) error {
	text, err := rawjson.Marshal(r)
	if err != nil {
		return err
	}
	return v.write(string(text))
}

func (v *logView) line(r *event.Record) error {
	switch r.Kind {
	case event.Received:
		v.open[r.Call] = *r
		v.order = append(v.order, r.Call)
		v.printed = true // at the end, if it is not answered
		return nil
	case event.Emitted:
		return v.emitted(r)
	}
	delete(v.open, r.Call)
	return v.entry(r, r.Session, v.decision(r), reasons(r), details(r))
}

// emitted is an entry for what an agent said, or a hook said about it.
func (v *logView) emitted(r *event.Record) error {
	word := event.Word{}
	if r.Word != nil {
		word = *r.Word
	}
	text := strings.TrimSpace(word.Kind + word.Type)
	if word.Message != "" {
		text += ": " + plain.Line(word.Message)
	}
	return v.entry(r, word.Agent, v.paint.Green("sent  "), text, nil)
}

// unanswered lists the calls that were received and never answered: in them
// nothing was enforced, or they are being judged right now.
func (v *logView) unanswered() error {
	for _, call := range v.order {
		r, open := v.open[call]
		if !open {
			continue
		}
		why := "no answer: the hook is still running, or was killed before it enforced anything"
		if err := v.entry(&r, r.Session, v.paint.Yellow("open  "), why, nil); err != nil {
			return err
		}
	}
	return nil
}

// entry is time, session or agent, project, event, decision and reason in columns, and details
// below. On a terminal, a reason that does not fit is the first of the details.
func (v *logView) entry(r *event.Record, who, decision, why string, details []string) error {
	head := v.head(r, who) + "  " + decision
	why = strings.Map(printable, why)
	if why != "" && term.Cells(head)+2+term.Cells(why) > v.width {
		details, why = append([]string{why}, details...), ""
	}

	lines := []string{strings.TrimRight(head+"  "+why, " ")}
	for _, detail := range details {
		lines = append(lines, v.below(strings.Map(printable, detail))...)
	}
	return v.write(strings.Join(lines, "\n"))
}

// below is a detail, in lines that fit a terminal. A path that is longer stays whole: it is to be
// copied.
func (v *logView) below(text string) []string {
	const indent = "    "
	long := func(word string) bool { return len(indent)+term.Cells(word) > v.width }
	if v.width == math.MaxInt || slices.ContainsFunc(strings.Fields(text), long) {
		return []string{indent + text}
	}
	return term.Wrapped(indent, text, v.width)
}

// head is everything before the decision. A prefix of a session is enough for --session; of an agent
// programs get the whole id.
func (v *logView) head(r *event.Record, who string) string {
	at, project, name := r.Time.Local().Format(time.DateTime), 16, 22
	if v.width < 100 { // so that 80 columns have room for "gates: failed in 0.3s"
		at, project, name = shortTime(r.Time, time.Now()), 9, 15
	}
	if r.Kind != event.Emitted || v.width < math.MaxInt {
		who = fmt.Sprintf("%.8s", who)
	}
	cells := []string{at, v.paint.Faint(v.cell(who, 8))}
	if v.projects {
		cells = append(cells, v.cell(projectName(r), project))
	}
	return strings.Join(append(cells, v.cell(describe(r), name)), "  ")
}

// shortTime is a time of today, or a time of another day without its seconds.
func shortTime(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return fmt.Sprintf("%-11s", t.Format(time.TimeOnly))
	}
	return t.Format("01-02 15:04")
}

// cell fills a column. Only on a terminal is it more important that the columns are straight.
func (v *logView) cell(text string, width int) string {
	text = strings.Map(printable, text)
	if v.width < math.MaxInt {
		return term.Pad(text, width)
	}
	return fmt.Sprintf("%-*s", width, text)
}

func (v *logView) decision(r *event.Record) string {
	text := fmt.Sprintf("%-6s", r.Decision)
	switch {
	case r.Decision != "allow":
		return v.paint.Red(text)
	case slices.ContainsFunc(r.Verdicts, func(o event.Verdict) bool { return o.Outcome != keeper.Passed.String() }):
		return v.paint.Yellow(text) // allowed, but not because all was well
	}
	return v.paint.Green(text)
}

// reasons are the verdicts in short, and what was done besides.
func reasons(r *event.Record) string {
	var parts []string
	for _, o := range r.Verdicts {
		text := o.Keeper + ": " + strings.ReplaceAll(o.Status, "_", " ")
		if o.DurationMS > 0 {
			text += " in " + elapsed(time.Duration(o.DurationMS)*time.Millisecond)
		}
		if o.Cost.USD > 0 {
			text += fmt.Sprintf(" for $%.4f", o.Cost.USD)
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, r.Effects...), ", ")
}

// elapsed is term.Elapsed, but for what that would call no time at all.
func elapsed(d time.Duration) string {
	if d < 100*time.Millisecond {
		return d.String()
	}
	return term.Elapsed(d)
}

// details are the messages of the verdicts, and where to read what gates printed that did not
// pass. A message that a gate's line says again is left out.
func details(r *event.Record) (lines []string) {
	var logs []string
	for _, tree := range r.Trees {
		for _, g := range tree.Gates {
			if g.Log != "" && g.Outcome != string(gauntlet.GatePassed) {
				logs = append(logs, fmt.Sprintf("%s %s, log: %s", plain.Name(g.Job), strings.ReplaceAll(g.Outcome, "_", " "), plain.Name(g.Log)))
			}
		}
	}
	for _, o := range r.Verdicts {
		for line := range strings.Lines(o.Message) {
			line = strings.TrimSuffix(line, "\n")
			if !slices.ContainsFunc(logs, func(log string) bool { return strings.HasPrefix(log, line+", log: ") }) {
				lines = append(lines, line)
			}
		}
	}
	return append(lines, logs...)
}

// describe is the event with what tells it from others of its name.
func describe(r *event.Record) string {
	name := r.Event
	if name == "" {
		name = "(unknown)"
	}
	for _, detail := range []string{r.Enums.Source, r.Enums.Reason, r.Enums.NotificationType, r.Enums.Trigger, r.Enums.ToolName, r.Enums.Error} {
		if detail != "" {
			name += "(" + detail + ")"
			break
		}
	}
	if r.Agent.ID != "" {
		name += "/" + r.Agent.ID
	}
	return name
}

func projectName(r *event.Record) string {
	if r.Project == "" {
		return "-"
	}
	return filepath.Base(r.Project)
}

// printable keeps what came from outside from steering the terminal.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}
