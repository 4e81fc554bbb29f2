package top

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

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
		p.fact("settled", strings.TrimSpace(plain.Clock(*d.Resolved, p.s.Now)+" "+cmp.Or(d.Closed, d.Chosen, strings.Join(d.Answers, "; "), d.Message)))
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
	p.fact("machine", asOf(d.Away))
	p.fact("project", d.Project)
	waited := ago(d.Created, p.s.Now)
	if d.Expires != nil {
		waited += "; it expires at " + plain.Clock(*d.Expires, p.s.Now)
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
