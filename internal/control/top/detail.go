package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// page makes the lines of details.
type page struct {
	s     *State
	lines []string
}

func (p *page) title(text string) { p.lines = append(p.lines, bold(cut(line(text), p.s.Width))) }

// section begins a part, apart from the one before.
func (p *page) section(text string) {
	p.lines = append(p.lines, "", faint(cut(line(text), p.s.Width)))
}

// add adds a line, whose beginning is ours.
func (p *page) add(look func(string) string, text string) {
	text = cut(text, p.s.Width)
	if look != nil {
		text = look(text)
	}
	p.lines = append(p.lines, text)
}

// words adds what an agent or a person wrote, behind a beginning.
func (p *page) words(look func(string) string, beginning, text string, most int) {
	lines := wrap(text, p.s.Width-cells(beginning))
	if len(lines) > most {
		left := len(lines) - most + 1
		lines = append(lines[:most-1:most-1], fmt.Sprintf("… %d more lines", left))
	}
	for _, text := range indent(beginning, lines) {
		p.add(look, text)
	}
}

// fact adds a name and its value, where it has one.
func (p *page) fact(name, text string) {
	if text = line(text); text != "" {
		p.words(nil, fmt.Sprintf("%-9s ", name), text, 6)
	}
}

// detailLines are all lines of the details.
func (s *State) detailLines() []string {
	p := &page{s: s}
	d := &s.detail
	switch {
	case d.err != nil:
		p.title("cannot show it")
		p.words(red, "", refusal(d.err), 20)
	case d.Decision != nil:
		p.decision(d.Decision)
	case d.Session != nil:
		p.session(d)
	case d.Owner != nil:
		p.owner(d)
	case d.Agent != nil:
		p.agent(d)
	case d.Stop != nil:
		p.title(d.Stop.Event + " of session " + d.Stop.Session)
		p.stop(d.Stop, d.GateLog)
	default:
		p.rest(d)
	}
	return p.lines
}

// rest shows what the state knows without asking.
func (p *page) rest(d *detail) {
	r, found := p.s.rowOf(d.ref)
	if !found {
		p.title("asking the daemon")
		if d.got {
			p.lines = nil
			p.title("it is gone")
		}
		return
	}

	p.title(r.what)
	p.fact("state", r.state)
	p.fact("project", r.project)

	switch r.ref.Kind {
	case WorkRow:
		p.words(red, "error     ", r.last, 20)
		p.fact("retry", "stopgate work retry "+shortID(r.ref.ID))
		p.fact("drop", "stopgate work drop "+shortID(r.ref.ID))
	case JobRow:
		p.fact("machine", r.away.Host)
		p.words(nil, "why       ", r.last, 20)
		p.fact("show", "stopgate job show "+shortID(r.ref.ID))
		p.fact("cancel", "stopgate job cancel "+shortID(r.ref.ID))
	case ProjectRow:
		p.words(nil, "why       ", cmp.Or(r.last, "hooks are installed and the configuration is approved"), 20)
		for _, project := range p.s.World.Projects {
			if project.Root == r.ref.ID {
				p.fact("fix", project.Hint)
			}
		}
	default:
		p.fact("reason", r.last)
	}
}

// owner shows a pipeline or an agent run: its steps, why it is where it is, what it runs.
func (p *page) owner(d *detail) {
	o := d.Owner
	p.title(daemonapi.KindWord(o.Kind) + " " + o.Name + " " + shortID(o.ID))
	p.fact("machine", asOf(o.Away))
	now := p.s.Now
	state := o.Status + ", started " + ago(o.Created, now) + " ago"
	if o.Ended != nil {
		state = o.Status + " " + ago(*o.Ended, now) + " ago, took " + short(time.Duration(o.Duration*float64(time.Second)))
	}
	p.fact("state", state)
	p.fact("project", o.Project)
	p.fact("reason", cmp.Or(o.Held, o.Reason, o.Error))
	p.fact("started", o.By)
	p.fact("cost", cost(o.USD, o.Tokens))
	if open := openDecision(o); open != nil && o.Ended == nil {
		p.section("decision " + shortID(open.ID) + " (d answers it)")
		p.words(yellow, "? ", open.Context, 8)
	}

	p.section("steps")
	for _, v := range o.Steps {
		p.step(&v)
	}
	if len(o.Children) > 0 {
		p.section("runs")
		for _, c := range o.Children {
			text := fmt.Sprintf("  %s %-10s %s %s", symbolOf(c.Status), line(c.Status), line(c.Name), shortID(c.ID))
			p.add(inState(c.Status), strings.TrimRight(text+"  "+line(c.Reason), " "))
		}
	}
	if d.Agent != nil {
		p.section("agent " + d.Agent.Name + " " + shortID(d.Agent.ID) + ", " + d.Agent.State())
		p.conversation(d)
	}
	p.log(d)
}

func (p *page) log(d *detail) {
	if len(d.Log) == 0 {
		return
	}
	p.section("end of the log (l follows it)")
	for _, text := range d.Log {
		p.add(nil, "  "+p.s.logLine(text))
	}
}

func (p *page) step(v *daemonapi.Visit) {
	took := ago(v.Started, p.s.Now)
	if v.Finished != nil {
		took = short(v.Finished.Sub(v.Started))
	}
	text := fmt.Sprintf("  %s %-10s %-7s %s", symbolOf(asState(v.Outcome)), line(v.Outcome), took, line(v.Step))
	if v.Attempt > 1 {
		text += fmt.Sprintf(" (attempt %d)", v.Attempt)
	}
	p.add(inState(asState(v.Outcome)), strings.TrimRight(text+"  "+line(v.Error), " "))
}

// asState is the outcome of a step as the state of an owner.
func asState(outcome string) string {
	if outcome == "completed" {
		return "done"
	}
	return outcome
}

// inState is the look of a state.
func inState(state string) func(string) string {
	switch state {
	case "done", "passed", "proven", "allowed":
		return green
	case "failed", "held", "blocked":
		return red
	case "waiting", "decide", "lost", "could_not_run", "gave up", "not enforced", "refused":
		return yellow
	case "cancelled", "skipped", "exited", "not_started":
		return faint
	}
	return nil
}

func cost(usd float64, tokens int64) string {
	text := money(usd)
	if tokens > 0 {
		text = strings.TrimPrefix(text+", "+plain.Digits(tokens)+" tokens", ", ")
	}
	return text
}

// agent shows an agent: its state and the end of its conversation.
func (p *page) agent(d *detail) {
	a := d.Agent
	p.title("agent " + a.Name + " " + shortID(a.ID))
	p.fact("machine", asOf(a.Away))
	state := a.State() + ", for " + ago(a.Started, p.s.Now)
	if a.Until != nil {
		state += ", until " + plain.Clock(*a.Until, p.s.Now)
	}
	p.fact("state", state)
	p.fact("step", a.Step)
	p.fact("project", a.Project)
	p.fact("signal", a.Signal)
	p.fact("on stop", a.OnStop)
	p.fact("cost", cost(a.USD, a.Tokens))
	p.conversation(d)
	p.log(d)
}

// conversation shows the last stop, and the end of what was said.
func (p *page) conversation(d *detail) {
	if d.Stop != nil {
		p.section("last stop")
		p.stop(d.Stop, d.GateLog)
	}
	if len(d.Messages) == 0 {
		return
	}
	p.section("end of the conversation")
	for _, m := range d.Messages {
		beginning, most := "  ", 12
		look := map[string]func(string) string{"tool": faint, "note": faint, "failed": red, "fault": red}[m.Kind]
		switch m.Kind {
		case "prompt":
			beginning, look = "> ", bold
		case "answer":
			beginning = "> "
		case "tool", "note":
			beginning, most = "· ", 2
		case "failed", "fault":
			beginning = "✗ "
		}
		p.words(look, beginning, m.Text, most)
	}
}
