package top

import (
	"cmp"
	"fmt"
	"slices"
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
	kind := "pipeline"
	if o.Kind == "run" {
		kind = "agent run"
	}
	p.title(kind + " " + o.Name + " " + shortID(o.ID))
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
		p.section("agent " + d.Agent.Name + " " + shortID(d.Agent.ID) + ", " + agentState(d.Agent))
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
	case "done", "passed", "proven":
		return green
	case "failed", "held":
		return red
	case "waiting", "decide", "could_not_run":
		return yellow
	case "cancelled", "skipped", "exited", "not_started":
		return faint
	}
	return nil
}

func cost(usd float64, tokens int64) string {
	text := money(usd)
	if tokens > 0 {
		text = strings.TrimPrefix(text+", "+count(tokens)+" tokens", ", ")
	}
	return text
}

// count is a number in a few digits.
func count(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// agent shows an agent: its state and the end of its conversation.
func (p *page) agent(d *detail) {
	a := d.Agent
	p.title("agent " + a.Name + " " + shortID(a.ID))
	state := agentState(a) + ", for " + ago(a.Started, p.s.Now)
	if a.Until != nil {
		state += ", until " + clock(*a.Until, p.s.Now)
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

// stop shows why a stop was allowed or blocked, gate by gate.
func (p *page) stop(stop *daemonapi.GateRun, log []string) {
	text := fmt.Sprintf("%s %s at %s, in %s", symbolOf(decided(stop.Decision)), line(decided(stop.Decision)), clock(stop.Time, p.s.Now), exact(stop.DurationMS))
	p.add(inState(map[string]string{"block": "failed", "allow": "done"}[stop.Decision]), text)
	p.fact("because", why(stop))
	p.fact("project", stop.Project)
	for _, tree := range stop.Trees {
		if len(stop.Trees) > 1 || tree.Root != stop.Project {
			p.fact("tree", tree.Root)
		}
		p.fact("status", strings.TrimSuffix(tree.Status+": "+tree.Why, ": "))
		for _, gate := range tree.Gates {
			took := ""
			if gate.DurationMS > 0 {
				took = exact(gate.DurationMS)
			}
			text := fmt.Sprintf("  %-13s %-6s %s", line(strings.ReplaceAll(gate.Outcome, "_", " ")), took, line(gate.Job))
			p.add(inState(gate.Outcome), strings.TrimRight(text+"  "+line(gate.Why), " "))
			if gate.Outcome == "failed" && len(log) > 0 {
				for _, text := range log {
					p.add(faint, "      "+line(text))
				}
				log = nil // it is of the first one
			}
			if gate.Outcome == "failed" && gate.Log != "" {
				p.words(faint, "    log: ", gate.Log, 4)
			}
		}
		if tree.More > 0 {
			p.add(faint, fmt.Sprintf("  and %d that were skipped", tree.More))
		}
	}
}

func decided(decision string) string {
	return cmp.Or(map[string]string{"allow": "allowed", "block": "blocked", "reject": "refused"}[decision], decision)
}

// session shows Claude Code in tmux: its state, its last stop, its queue.
func (p *page) session(d *detail) {
	c := d.Session
	p.title("session " + c.Session)
	p.fact("state", c.State+", for "+ago(c.Since, p.s.Now))
	p.fact("pane", c.Pane)
	p.fact("attach", "tmux -S "+c.Socket+" attach -t "+c.Session)
	if d.Stop != nil {
		p.section("last stop in this pane")
		p.stop(d.Stop, d.GateLog)
	}
	if q := d.Queue; q != nil {
		p.section(fmt.Sprintf("queue: %d of %d done %s", q.Done, len(q.Commands), q.Ended))
		p.fact("why", cmp.Or(q.Why, q.Fault))
		for _, command := range q.Commands {
			p.add(nil, fmt.Sprintf("  %-8s %s  %s", line(command.Status), line(command.Command), line(command.Why)))
		}
	}
}

// decision shows what a person needs to decide.
func (p *page) decision(d *daemonapi.Decision) {
	p.about(d)
	p.asked(d, nil)
	if len(d.Questions()) <= 1 {
		width := 0
		for _, o := range d.Options {
			width = max(width, p.nameWidth(o.Name))
		}
		for _, o := range d.Options {
			p.option(fmt.Sprintf("  %d  ", o.Number), o.Name, o.Description, width, o.Recommended)
		}
	}
	if d.Resolved != nil {
		p.fact("settled", strings.TrimSpace(clock(*d.Resolved, p.s.Now)+" "+cmp.Or(d.Closed, d.Chosen, strings.Join(d.Answers, "; "), d.Message)))
	}
	p.details(d)
}

func (p *page) option(beginning, name, text string, width int, recommended bool) {
	if recommended {
		text += " (recommended)"
	}
	p.add(nil, beginning+pad(line(name), width)+"  "+line(text))
}

// nameWidth is how wide the name of an option is drawn: none takes more than half of the window.
func (p *page) nameWidth(name string) int { return min(cells(line(name)), p.s.Width/2) }

func (p *page) about(d *daemonapi.Decision) {
	p.title("decision " + shortID(d.ID) + " of " + d.Name + ", step " + d.Step + " (" + d.Source + ")")
	p.fact("project", d.Project)
	waited := ago(d.Created, p.s.Now)
	if d.Expires != nil {
		waited += "; it expires at " + clock(*d.Expires, p.s.Now)
	}
	p.fact("waits", waited)
	p.fact("spent", spent(d.Details))
	p.lines = append(p.lines, "")
}

// asked shows the question; of several questions only one, where it is given.
func (p *page) asked(d *daemonapi.Decision, only *daemonapi.Question) {
	a := d.Ask
	switch {
	case only != nil:
		p.words(yellow, "? ", only.Question, 8)
	case a == nil || a.Plan == "" && a.Input == "" && len(a.Questions) == 0:
		p.words(yellow, "? ", d.Context, 12)
	case a.Plan != "":
		p.words(yellow, "? ", "The agent asks you to approve its plan:", 2)
		p.words(nil, "  ", a.Plan, 200)
	case len(a.Questions) > 0:
		for _, q := range a.Questions {
			p.words(yellow, "? ", q.Question, 8)
			width := 0
			for _, c := range q.Options {
				width = max(width, p.nameWidth(c.Label))
			}
			for i, c := range q.Options {
				if len(a.Questions) > 1 {
					p.option(fmt.Sprintf("  %d  ", i+1), c.Label, c.Description, width, false)
				}
			}
		}
	default:
		p.words(yellow, "? ", "The agent asks for permission to use "+cmp.Or(line(a.Tool), "a tool")+":", 2)
		p.words(nil, "  ", a.Input, 200)
	}
}

// details show what the agent said and did.
func (p *page) details(d *daemonapi.Decision) {
	more := d.Details
	if more == nil {
		return
	}
	if more.LastMessage != "" {
		p.section("the agent's last message")
		p.words(nil, "  ", more.LastMessage, 100)
	}
	p.each("failed gates", more.Gates)
	p.each("commits", more.Commits)
	p.each("changes since the base", more.Diff)
	p.each("uncommitted changes", more.Changes)
}

// spent is what an owner has cost until a decision.
func spent(d *daemonapi.Details) string {
	if d == nil {
		return ""
	}
	text := cost(d.USD, d.Tokens)
	if d.Running > 0 {
		text = strings.TrimPrefix(text+", worked "+short(time.Duration(d.Running)*time.Second), ", ")
	}
	return text
}

func (p *page) each(title string, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.section(title)
	const most = 40
	for _, text := range texts[:min(len(texts), most)] {
		p.add(nil, "  "+line(text))
	}
	if more := len(texts) - most; more > 0 {
		p.add(faint, fmt.Sprintf("  … %s more", plain.Count(more, "line")))
	}
}

// formLines show the question that is to be answered, the choices, and what helps to choose.
func (s *State) formLines() []string {
	p := &page{s: s}
	f := &s.form
	d := &f.decision
	p.title("decision " + shortID(d.ID) + " of " + d.Name + ", step " + d.Step)
	p.lines = append(p.lines, "")
	if f.confirm {
		p.words(yellow, "? ", question(d), 4)
		p.lines = append(p.lines, "")
		p.words(bold, "", "Send this answer?", 1)
		p.words(nil, "  ", f.chosen(), 12)
		p.lines = append(p.lines, "")
		p.add(nil, "y sends it, esc goes back")
		return p.lines
	}
	var only *daemonapi.Question
	if f.several() {
		only = f.asked()
		p.add(faint, fmt.Sprintf("question %d of %d", f.at+1, len(d.Questions())))
	}
	p.asked(d, only)
	p.lines = append(p.lines, "")
	if f.typing {
		p.add(bold, "Your words:")
		p.words(nil, "> ", f.input+"_", 100)
		return p.lines
	}
	choices, width := f.choices(), 0
	for _, c := range choices {
		width = max(width, p.nameWidth(c.name))
	}
	for i, c := range choices {
		p.choice(f, i, c, width)
	}
	if text := spent(d.Details); text != "" {
		p.lines = append(p.lines, "")
		p.fact("spent", text)
	}
	p.details(d)
	return p.lines
}

func (p *page) choice(f *form, i int, c choice, width int) {
	at, mark := "  ", ""
	if i == f.cursor {
		at = "> "
	}
	if f.multi() && !c.words && !c.whole {
		if mark = "[ ] "; f.marked[i] {
			mark = "[x] "
		}
	}
	number := "   "
	if i < 9 {
		number = fmt.Sprintf("%d  ", i+1)
	}
	text := cut(at+number+mark+pad(line(c.name), width)+"  "+line(c.text), p.s.Width)
	if i == f.cursor {
		text = reversed(text)
	}
	p.lines = append(p.lines, text)
}

// newest is the newest of stops that fulfil a condition.
func newest(stops []daemonapi.GateRun, is func(*daemonapi.GateRun) bool) *daemonapi.GateRun {
	at := slices.IndexFunc(stops, func(stop daemonapi.GateRun) bool { return is(&stop) })
	if at < 0 {
		return nil
	}
	return &stops[at]
}
