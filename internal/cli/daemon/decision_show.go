package daemon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// showDecision shows all that a person needs to decide.
func (p *Daemon) showDecision(ctx context.Context, d *daemonapi.Decision) error {
	s := decisionShow{Decision: d, paint: term.PaintFor(p.out), width: term.WidthOf(p.out), now: time.Now()}
	if d.Agent != "" && d.Resolved == nil {
		if a, err := p.Agent(ctx, d.Agent); err == nil { // it is a help, no more
			s.agent = &a
		}
	}
	return term.PrintLines(p.out, s.lines())
}

// decisionShow is one decision. What is asked stands at the end, beside how to answer: that
// is what is still to be seen on a terminal.
type decisionShow struct {
	*daemonapi.Decision
	agent *daemonapi.Agent // nil where nothing is known of it
	paint term.Paint
	width int
	now   time.Time
}

func (s *decisionShow) lines() []string {
	about := "in " + term.Shown(s.Project) + ", since " + term.Clock(s.Created, s.now)
	if s.Decision.Agent != "" {
		about += ", agent " + shortID(s.Decision.Agent)
	}
	about += asOf(s.Away)

	lines := []string{s.paint.Bold(term.Cut("decision "+shortID(s.ID)+" about "+decisionAbout(s.Decision), s.width)), s.paint.Faint(term.Cut(about, s.width))}
	if s.Resolved != nil {
		lines = append(lines, s.asked()...)
		return append(lines, term.Cut("settled at "+term.Clock(*s.Resolved, s.now)+": "+settledBy(s.Decision), s.width))
	}

	if s.Details != nil {
		lines = append(lines, s.details()...)
	}
	lines = append(lines, s.facts()...)
	lines = append(lines, "")
	lines = append(lines, s.asked()...)
	lines = append(lines, s.options()...)
	lines = append(lines, "")

	for _, line := range term.Wrap(howToAnswer(s.Decision), s.width) {
		lines = append(lines, s.paint.Faint(line))
	}
	for _, command := range answers(s.Decision) {
		lines = append(lines, "  "+command) // never cut: it is there to be pasted
	}
	return append(lines, s.more()...)
}

// details are what the agent said and did.
func (s *decisionShow) details() (lines []string) {
	part := func(title string, text []string, most int) {
		if len(text) == 0 {
			return
		}
		lines = append(lines, "", s.paint.Faint(term.Cut(title, s.width)))
		if before := len(text) - most; before > 0 && s.width < 1<<20 { // what is said last says most
			lines = append(lines, s.paint.Faint(fmt.Sprintf("  … %s more above", plain.Count(before, "line"))))
			text = text[before:]
		}
		lines = append(lines, text...)
	}
	const most = 30 // lines on a terminal
	if words := strings.TrimSpace(s.Details.LastMessage); words != "" {
		part("the agent's last message", term.Wrapped("  ", words, s.width), most)
	}
	if w := s.Details.Workspace; w != nil {
		part("workspace", s.each([]string{w.Path + ", branch " + w.Branch}), most)
		part("commits since "+plain.Line(w.Base), s.each(s.Details.Commits), most)
		part("changes since "+plain.Line(w.Base), s.each(s.Details.Diff), most)
	}
	part("uncommitted changes", s.each(s.Details.Changes), most)
	part("failed gates", s.each(s.Details.Gates), most)
	return lines
}

func (s *decisionShow) each(texts []string) (lines []string) {
	for _, text := range texts {
		lines = append(lines, term.Cut("  "+plain.Line(text), s.width))
	}
	return lines
}

// facts are what it cost and how long it has.
func (s *decisionShow) facts() (lines []string) {
	fact := func(name, text string) {
		lines = append(lines, term.Wrapped(fmt.Sprintf("%-8s ", name), text, s.width)...)
	}
	if d := s.Details; d != nil {
		if text := spent(d.USD, d.Tokens); text != "" {
			fact("spent", text)
		}
		fact("worked", term.Elapsed(time.Duration(d.Running)*time.Second)+", waiting for "+term.Age(s.Created, s.now))
	}
	if s.Expires != nil {
		fact("expires", "at "+term.Clock(*s.Expires, s.now)+" (in "+term.Elapsed(s.Expires.Sub(s.now))+"): "+onExpiry(s.Decision))
	}
	if len(lines) > 0 {
		lines = slices.Insert(lines, 0, "")
	}
	return lines
}

// onExpiry is what happens to a decision that no person makes in time.
func onExpiry(d *daemonapi.Decision) string {
	cancelled := "then it is cancelled"
	switch {
	case d.OnExpiry == "done":
		return "then the step counts as done"
	case d.OnExpiry != "go_on", d.Source == "budget":
		return cancelled
	case d.Source == "question":
		return "then the agent is told to decide on its own"
	case d.Source == "approval":
		return "then it is denied"
	case len(d.Options) > 0 && d.Options[0].Name != "done":
		return "then the answer is " + plain.Line(d.Options[0].Name)
	}
	return cancelled
}

// asked is what a person is asked. What an agent asks is shown as it asked it.
func (s *decisionShow) asked() (lines []string) {
	a := s.Ask
	if a == nil || a.Plan == "" && a.Input == "" && len(a.Questions) == 0 {
		return s.context("? ", "")
	}

	head, text := "The agent asks:", a.Input
	switch {
	case len(a.Questions) > 1:
		head = fmt.Sprintf("The agent asks %d questions:", len(a.Questions))
	case len(a.Questions) == 1:
		lines = s.question(&a.Questions[0], "  ")
	case a.Plan != "":
		head, text = "The agent asks you to approve its plan:", a.Plan
	case s.Source == "approval":
		head = "The agent asks for permission to use " + cmp.Or(plain.Line(a.Tool), "a tool") + ":"
	}

	var all []string
	for i := range a.Questions {
		all = append(all, a.Questions[i].Question)
		if len(a.Questions) > 1 {
			lines = append(lines, s.question(&a.Questions[i], fmt.Sprintf("  %d. ", i+1))...)
		}
	}

	if len(all) == 0 {
		lines = term.Wrapped("  ", text, s.width)
	} else {
		text = strings.Join(all, " / ") // as the context has them
	}
	return slices.Concat(s.context("", text), []string{s.paint.Yellow(term.Cut("? "+head, s.width))}, lines)
}

// context is what led to the decision, without what is shown anyway. The first line has the mark.
func (s *decisionShow) context(mark, shown string) (lines []string) {
	for line := range strings.Lines(s.Context) {
		line = plain.Line(line)
		if line == "" || shown != "" && (strings.HasPrefix(line, "The agent asks") || strings.Contains(plain.Line(shown), line)) {
			continue
		}
		for _, part := range term.Wrapped(mark, line, s.width) {
			lines = append(lines, s.paint.Yellow(part))
		}
		mark = strings.Repeat(" ", len(mark))
	}
	return lines
}

// question is one of the agent's, with its choices.
func (s *decisionShow) question(q *daemonapi.Question, beginning string) []string {
	text := q.Question
	if q.Multi {
		text += " (several may be chosen)"
	}
	lines := term.Wrapped(beginning, text, s.width)
	if len(s.Decision.Questions()) == 1 && s.Resolved == nil {
		return lines // its choices are the options
	}
	rows := [][]string{}
	for i, c := range q.Options {
		rows = append(rows, []string{fmt.Sprint(i + 1), plain.Line(c.Label), plain.Line(c.Description)})
	}
	return append(lines, numbered(rows, strings.Repeat(" ", term.Cells(beginning)), s.width)...)
}

// numbered are choices: a number, a name and what it means, which goes on below itself.
func numbered(rows [][]string, indent string, width int) (lines []string) {
	numbers, names := 0, 0
	for _, row := range rows {
		numbers, names = max(numbers, term.Cells(row[0])), max(names, term.Cells(row[1]))
	}
	names = min(names, max(8, width/2))
	for _, row := range rows {
		head := indent + strings.Repeat(" ", numbers-term.Cells(row[0])) + row[0] + "  "
		if term.Cells(row[1]) > names { // what it means stands below
			lines = append(lines, term.Wrapped(head, row[1], width)...)
			head, row[1] = strings.Repeat(" ", term.Cells(head)), ""
			if row[2] == "" {
				continue
			}
		}
		lines = append(lines, term.Wrapped(head+term.Pad(row[1], names)+"  ", row[2], width)...)
	}
	return lines
}

// options are the options of a decision, by number. Those of several questions stand with
// them.
func (s *decisionShow) options() []string {
	asked := s.Decision.Questions()
	if len(asked) > 1 {
		return nil
	}
	rows := [][]string{}
	for _, o := range s.Options {
		text := plain.Line(o.Description)
		if o.Recommended {
			text += " (recommended)"
		}
		rows = append(rows, []string{fmt.Sprint(o.Number), plain.Line(o.Name), text})
	}
	lines := numbered(rows, "  ", s.width)
	if len(asked) == 0 && s.Ask != nil { // a plan has lines like these
		lines = slices.Insert(lines, 0, "")
	}
	return lines
}

// howToAnswer says what can be put in place of what the commands have.
func howToAnswer(d *daemonapi.Decision) string {
	asked := d.Questions()
	several := ""
	if slices.ContainsFunc(asked, func(q daemonapi.Question) bool { return q.Multi }) {
		several = " (comma-separated for several)"
	}
	switch len(asked) {
	case 0:
		return "answer with:"
	case 1:
		return "answer by number or label" + several + ", or in free text:"
	}
	return "answer the questions in order, each by number or label" + several + ", or in free text:"
}

// more are the ways to find out more.
func (s *decisionShow) more() (lines []string) {
	if s.agent == nil {
		return nil
	}
	id := shortID(s.agent.ID)
	if s.agent.Terminal != nil {
		lines = append(lines, s.paint.Faint("its terminal:     stopgate agent attach "+id))
	}
	return append(lines, s.paint.Faint("its conversation: stopgate agent logs "+id))
}

// answers are the commands that answer a decision. They can be pasted; only words have to
// be put in.
func answers(d *daemonapi.Decision) []string {
	command := "stopgate decision answer " + shortID(d.ID)
	if asked := d.Questions(); len(asked) > 0 {
		return slices.Concat([]string{command + " " + example(asked)}, wordsFor(d, command), []string{command + " " + lastOption(d)})
	}
	var all []string
	for _, o := range d.Options {
		line := command + " " + term.ShellWord(plain.Line(o.Name))
		if o.Name == "revise" || o.Name == "deny" {
			line += " -m 'TEXT'"
		}
		all = append(all, line)
	}
	if d.Source == "plan" || d.Source == "approval" {
		return all // their words stand there
	}
	return append(all, wordsFor(d, command)...)
}

// wordsFor is the command that answers with words, where that is possible.
func wordsFor(d *daemonapi.Decision, command string) []string {
	if !d.TakesWords() {
		return nil
	}
	return []string{command + " -m 'TEXT'"}
}

// example is an answer to each question: its first choices, or words.
func example(asked []daemonapi.Question) string {
	var words []string
	for _, q := range asked {
		switch {
		case len(q.Options) == 0:
			words = append(words, "'TEXT'")
		case q.Multi && len(q.Options) > 1:
			words = append(words, "1,2")
		default:
			words = append(words, "1")
		}
	}
	return strings.Join(words, " ")
}
