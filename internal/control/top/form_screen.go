package top

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// formLines show the question that is to be answered, the choices, and what helps to choose.
func (s *State) formLines() []string {
	p := &page{s: s}
	f := &s.form
	d := &f.decision
	p.title("decision " + shortID(d.ID) + " of " + d.Name + d.On() + ", step " + d.Step)
	p.lines = append(p.lines, "")

	if f.confirm {
		p.words(yellow, "? ", d.Question(), 4)
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
