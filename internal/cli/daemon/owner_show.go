package daemon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// ownerShow is a pipeline or an agent run at one moment.
type ownerShow struct {
	owner daemonapi.Owner
	now   func() time.Time
	last  *lastLine // of its log; nil without --watch
}

// lastLine holds the last line of a log that is being read.
type lastLine struct{ text atomic.Pointer[string] }

func (l *lastLine) set(line string) {
	if text := plain.Line(line); text != "" {
		l.text.Store(&text)
	}
}

func (l *lastLine) String() string {
	if l == nil || l.text.Load() == nil {
		return ""
	}
	return *l.text.Load()
}

// follow keeps the last line of an owner's log.
func (l *lastLine) follow(ctx context.Context, p *Daemon, id string) {
	for line, err := range p.Log(ctx, id, true) {
		if err != nil {
			return // the screen does without
		}
		l.set(logText(line))
	}
}

// logText is a line of a log without its time and its step.
func logText(line string) string {
	stamp, rest, found := strings.Cut(line, " ")
	if _, err := time.Parse(time.RFC3339, stamp); err != nil || !found {
		return line
	}
	if strings.HasPrefix(rest, "[") {
		if _, text, found := strings.Cut(rest, "] "); found {
			return text
		}
	}
	return rest
}

func (s *ownerShow) JSON() any { return s.owner }

func (s *ownerShow) Over() bool { return atEnd(&s.owner) }

// Facts are the steps and how the owner stands.
func (s *ownerShow) Facts() (all []term.Fact) {
	o := &s.owner
	for i, v := range o.Steps {
		text := fmt.Sprintf("%s: step %d %s %s", title(o), i+1, visitName(&v), v.Outcome)
		at := v.Started
		if v.Finished != nil {
			at = *v.Finished
			text += " after " + term.Elapsed(v.Finished.Sub(v.Started))
		}
		if v.Error != "" {
			text += ": " + plain.Line(v.Error)
		}

		if v.Finished == nil {
			all = append(all, term.Fact{Text: text, At: at})
		}
		all = append(all, childFacts(o, i)...)
		if v.Finished != nil {
			all = append(all, term.Fact{Text: text, At: at})
		}
	}

	if d := o.Decision; d != nil && d.Resolved == nil {
		text := fmt.Sprintf("%s waits for a decision: %s; answer with: %s", title(o), plain.Line(d.Context), answerLine(d))
		all = append(all, term.Fact{Text: text, At: d.Created})
	}
	if atEnd(o) {
		all = append(all, term.Fact{Text: title(o) + " " + ownerState(o), At: endedAt(o)})
	}
	return all
}

// childFacts are how far the pipelines are that a step runs, in the last visit of that step.
func childFacts(o *daemonapi.Owner, visit int) (all []term.Fact) {
	for _, c := range childrenAt(o, visit) {
		text := fmt.Sprintf("%s: %s %s", title(o), plain.Line(c.Name), c.Status)
		if c.Reason != "" {
			text += ": " + plain.Line(c.Reason)
		}
		if c.Updated != nil {
			all = append(all, term.Fact{Text: text, At: *c.Updated})
		}
	}
	return all
}

// childrenAt are the pipelines that a step runs, in the last visit of that step: of each name the newest.
func childrenAt(o *daemonapi.Owner, visit int) (all []daemonapi.Child) {
	step := o.Steps[visit].Step
	if slices.ContainsFunc(o.Steps[visit+1:], func(v daemonapi.Visit) bool { return v.Step == step }) {
		return nil
	}
	for i, c := range o.Children {
		again := slices.ContainsFunc(o.Children[i+1:], func(later daemonapi.Child) bool { return later.Name == c.Name && later.Step == c.Step })
		if c.Step == step && !again {
			all = append(all, c)
		}
	}
	return all
}

// ownerState tells how an owner stands.
func ownerState(o *daemonapi.Owner) string {
	switch {
	case o.Status == ownerFailed && o.Error != "":
		return "failed: " + plain.Line(o.Error)
	case o.Status == ownerHeld:
		return "held, because its record is damaged: " + plain.Line(o.Held)
	case o.Status == ownerQueued && o.Reason != "":
		return "queued, " + plain.Line(o.Reason)
	case o.Status == ownerRunning && o.Step != "":
		return "running, at " + plain.Line(o.Step)
	case o.Status == ownerWaiting && o.Step != "" && o.Reason != "":
		return "waiting for a decision, at " + plain.Line(o.Step) + " (" + plain.Line(o.Reason) + ")"
	case o.Status == ownerWaiting && o.Step != "":
		return "waiting for a decision, at " + plain.Line(o.Step)
	case o.Status == ownerCancelled && o.Reason != "":
		return "cancelled: " + plain.Line(o.Reason)
	}
	return o.Status
}

// endedAt is when an owner came to its end. An older daemon does not say so.
func endedAt(o *daemonapi.Owner) time.Time {
	if o.Ended != nil {
		return *o.Ended
	}
	return o.Updated
}

func (s *ownerShow) Lines(p term.Paint, width, height int) []string {
	o, now := &s.owner, s.now()
	lines := []string{inState(p, o.Status, term.Cut(title(o)+": "+ownerState(o), width))}
	lines = append(lines, p.Faint(term.Cut(s.about(now), width)))
	lines = append(lines, s.steps(p, width, now)...)
	lines = append(lines, s.workspaces(p, width)...)
	lines = append(lines, s.agent(p, width)...)
	lines = append(lines, decisionLines(p, o.Decision, width)...)
	if s.last == nil { // who watches has seen them
		for _, name := range slices.Sorted(maps.Keys(o.Vars)) {
			lines = append(lines, term.Cut("var "+plain.Line(name)+" = "+plain.Line(o.Vars[name]), width))
		}
	}
	return fitMiddle(lines, height)
}

// about tells of the owner what stays as it is.
func (s *ownerShow) about(now time.Time) string {
	o := &s.owner
	if o.Status == ownerHeld && o.Created.IsZero() {
		return "nothing else is known about it; " + givesUp(o)
	}
	text := "in " + term.Shown(o.Project) + ", started at " + term.Clock(o.Created, now)
	if atEnd(o) && o.Status != ownerHeld {
		text += ", took " + term.Elapsed(endedAt(o).Sub(o.Created))
	} else {
		text += ", " + term.Age(o.Created, now) + " ago"
	}
	if cost := spent(o.USD, o.Tokens); cost != "" {
		text += ", " + cost
	}
	if o.Job != "" {
		text += ", for job " + shortID(o.Job)
	}
	return text + asOf(o.Away)
}

// childLines are the pipelines that a step runs, a line each.
func childLines(p term.Paint, width int, children []daemonapi.Child) (lines []string) {
	names := 0
	for _, c := range children {
		names = max(names, term.Cells(plain.Line(c.Name)))
	}
	names = min(names, max(8, width/2))
	for _, c := range children {
		text := fmt.Sprintf("  %s  %-8s  %s", term.Pad(plain.Line(c.Name), names), shortID(c.ID), c.Status)
		for _, more := range []string{c.Item, c.Reason} {
			if more != "" {
				text += ", " + plain.Line(more)
			}
		}
		lines = append(lines, inState(p, c.Status, term.Cut(text, width)))
	}
	return lines
}

// workspaces are a line each.
func (s *ownerShow) workspaces(p term.Paint, width int) (lines []string) {
	for _, w := range s.owner.Workspaces {
		text := "workspace " + term.Shown(w.Path)
		if w.Branch != "" {
			text += ", branch " + plain.Line(w.Branch)
		}
		text += ": " + w.State
		for _, why := range []string{w.Kept, w.Note} {
			if why != "" {
				text += ", " + plain.Line(why)
			}
		}
		lines = append(lines, p.Faint(term.Cut(text, width)))
	}
	return lines
}

// steps are a line each time that a step was entered.
func (s *ownerShow) steps(p term.Paint, width int, now time.Time) []string {
	names := 0
	for _, v := range s.owner.Steps {
		names = max(names, term.Cells(visitName(&v)))
	}
	names = min(names, max(8, width/2), max(1, width-term.TimeColumn-3))
	var lines []string
	for i, v := range s.owner.Steps {
		end := now
		if v.Finished != nil {
			end = *v.Finished
		}
		line := fmt.Sprintf("%s %s %*s", s.mark(p, &v, now), term.Pad(visitName(&v), names), term.TimeColumn, term.Elapsed(end.Sub(v.Started)))
		if room := width - 2 - names - 1 - term.TimeColumn - 2; room > 4 {
			line += s.says(p, &v, room)
		}
		lines = append(lines, line)
		lines = append(lines, childLines(p, width, childrenAt(&s.owner, i))...)
	}
	return lines
}

// visitName is the step's name, and which attempt it is.
func visitName(v *daemonapi.Visit) string {
	if v.Attempt > 1 {
		return fmt.Sprintf("%s (attempt %d)", plain.Line(v.Step), v.Attempt)
	}
	return plain.Line(v.Step)
}

// says is what there is to say about a step; nothing where it is completed. Of one at
// work, --watch shows what it printed last.
func (s *ownerShow) says(p term.Paint, v *daemonapi.Visit, room int) string {
	last := s.last.String()
	switch {
	case v.Outcome == "completed":
		return ""
	case v.Outcome == ownerRunning && last != "":
		return "  " + p.Faint(term.Cut(last, room))
	case v.Error != "":
		return "  " + inState(p, v.Outcome, term.Cut(v.Outcome+": "+plain.Line(v.Error), room))
	}
	return "  " + inState(p, v.Outcome, term.Cut(v.Outcome, room))
}

// mark is one character for how a step stands. With --watch it turns.
func (s *ownerShow) mark(p term.Paint, v *daemonapi.Visit, now time.Time) string {
	switch v.Outcome {
	case "completed":
		return p.Green("✓")
	case ownerFailed:
		return p.Red("✗")
	case ownerWaiting:
		return p.Yellow("!")
	case ownerCancelled, "skipped":
		return p.Faint("-")
	}
	if s.last == nil {
		return p.Bold("▸")
	}
	return term.Spinner(v.Started, now)
}

// agent tells of the agent that is at work, and how to get to it.
func (s *ownerShow) agent(p term.Paint, width int) []string {
	a := s.owner.Agent
	if a == nil {
		return nil
	}
	text := fmt.Sprintf("agent %s %s, %s", a.ID, plain.Line(a.Name), a.State())
	if a.Until != nil {
		text += " until " + term.Clock(*a.Until, s.now())
	}
	if a.Signal != "" {
		text += ", signalled " + plain.Line(a.Signal)
	}
	if cost := spent(a.USD, a.Tokens); cost != "" {
		text += ", " + cost
	}
	lines := []string{inState(p, a.Status, term.Cut(text, width))}
	if a.Terminal != nil {
		lines = append(lines, p.Faint(term.Cut("  → stopgate agent attach "+shortID(a.ID), width)))
	}
	return lines
}

// fitMiddle leaves lines out of the middle of what a screen has no room for: what is new
// stands at the end.
func fitMiddle(lines []string, height int) []string {
	if len(lines) <= height || height < 4 {
		return lines[:min(len(lines), height)]
	}
	const head = 2
	left := len(lines) - (height - 1)
	return slices.Concat(lines[:head], []string{fmt.Sprintf("… %d more", left)}, lines[head+left:])
}

// showOwner shows an owner once.
func (p *Daemon) showOwner(ctx context.Context, id string) error {
	o, err := p.Owner(ctx, id)
	if err != nil {
		return err
	}
	if err := term.Once(p.out, p.asJSON, &ownerShow{owner: o, now: time.Now}); err != nil || p.asJSON {
		return err
	}
	if o.Decision == nil && o.Status == ownerFailed {
		fmt.Fprintln(p.errOut, term.PaintFor(p.errOut).Faint("resume it with: stopgate "+groupWord(&o)+" resume "+shortID(o.ID)))
	}
	return nil
}

// watchOwner shows an owner until it is at its end, and gives the exit code of that.
func (p *Daemon) watchOwner(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var last *lastLine
	if _, ok := term.IsScreen(p.out); ok && !p.asJSON {
		last = &lastLine{}
		go last.follow(ctx, p, id)
	}
	var seen daemonapi.Owner
	err := p.Watch(ctx, id, func(ctx context.Context) (term.Glimpse, error) {
		o, err := p.Owner(ctx, id)
		seen = o
		return &ownerShow{o, time.Now, last}, err
	})
	if err != nil {
		return err
	}
	return endOf(&seen)
}

// endOf is the exit code of how an owner ended.
func endOf(o *daemonapi.Owner) error {
	switch o.Status {
	case ownerDone:
		return nil
	case ownerCancelled:
		return term.WithCode(nil, term.ExitCancelled)
	case ownerWaiting, ownerHeld:
		return term.WithCode(nil, term.ExitCouldNotRun)
	}
	return term.WithCode(nil, term.ExitFailed)
}
