package top

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// form is the answer to a decision, as far as it is chosen: to each question, then whether to send it.
type form struct {
	decision daemonapi.Decision
	at       int          // the question
	cursor   int          // the choice
	marked   map[int]bool // of a question with several answers
	typing   bool
	input    string
	answers  []string // to the questions before

	option, message string // of a decision without several questions
	confirm         bool
	sending         bool
}

// choice is one that a person can take.
type choice struct {
	name, text string
	words      bool // it stands for what the person types
	whole      bool // it answers the decision, and not only the question
}

// decide begins to answer. An agent may look, and not answer: it would decide about its own work.
func (s State) decide(r row) (State, []any) {
	switch {
	case s.Agent != "":
		s.notice = notice{"agents cannot answer decisions (this is an agent's shell: " + s.Agent + " is set)", true}
		return s, nil
	case r.decision == nil:
		s.notice = notice{"it waits for no decision", true}
		return s, nil
	}
	s.mode, s.form, s.scroll = formMode, form{decision: *r.decision}, 0
	s.detail = detail{ref: Ref{DecisionRow, r.decision.ID}}
	return s, []any{Show{s.detail.ref}}
}

// several reports whether the agent asks more than one question.
func (f *form) several() bool { return len(f.decision.Questions()) > 1 }

// asked is the question that is to be answered; nil where it is none of the agent's own.
func (f *form) asked() *daemonapi.Question {
	if asked := f.decision.Questions(); f.at < len(asked) {
		return &asked[f.at]
	}
	return nil
}

// multi reports whether several choices may be taken together.
func (f *form) multi() bool { return f.asked() != nil && f.asked().Multi }

// choices are what can be taken now.
func (f *form) choices() (all []choice) {
	if f.several() {
		for _, c := range f.asked().Options {
			all = append(all, choice{name: c.Label, text: c.Description})
		}
		all = append(all, choice{name: "other", text: "type your answer", words: true})
		if n := len(f.decision.Options); n > 0 && f.at == 0 {
			last := f.decision.Options[n-1]
			all = append(all, choice{name: last.Name, text: last.Description, whole: true})
		}
		return all
	}
	for i, o := range f.decision.Options {
		text := o.Description
		if o.Recommended {
			text += " (recommended)"
		}
		last := i == len(f.decision.Options)-1
		all = append(all, choice{name: o.Name, text: text, whole: last && f.asked() != nil}) // of a question it cancels
	}
	if f.takesWords() {
		all = append(all, choice{name: "message", text: "type a message for the agent", words: true})
	}
	return all
}

// takesWords reports whether words alone are an answer. Those about a plan or a tool belong to an
// option.
func (f *form) takesWords() bool {
	return f.decision.TakesWords() && f.decision.Source != "plan" && f.decision.Source != "approval"
}

// takesMessage reports whether words belong to an option.
func takesMessage(option string) bool { return option == "revise" || option == "deny" }

func pressForm(s State, k Key) (State, []any) {
	if s.form.sending {
		return s, nil
	}

	s.notice = notice{}
	switch {
	case s.form.confirm:
		return confirmForm(s, k)
	case s.form.typing:
		return typeForm(s, k), nil
	}

	f := s.form
	all := f.choices()
	switch k.Name {
	case "esc", "h", "q":
		return s.leaveForm(), nil
	case "j", "down":
		f.cursor = min(f.cursor+1, len(all)-1)
	case "k", "up":
		f.cursor = max(0, f.cursor-1)
	case "ctrl+d", "pgdown", "ctrl+u", "pgup":
		s.scroll = min(moved(s.scroll, s.body(), k.Name), max(0, len(s.formLines())-s.body()))
		return s, nil
	case "space", " ":
		if f.multi() && f.cursor < len(all) && !all[f.cursor].words && !all[f.cursor].whole {
			f.marked = cloned(f.marked)
			f.marked[f.cursor] = !f.marked[f.cursor]
		}
	case "enter":
		f = f.take(all)
	default:
		if n := numberOf(k.Name); n >= 0 && n < len(all) {
			if f.cursor = n; !f.multi() {
				f = f.take(all)
			}
		}
	}

	s.form = f
	return s, nil
}

// numberOf is the choice that a digit stands for; -1 for other keys.
func numberOf(key string) int {
	if len(key) != 1 || key[0] < '1' || key[0] > '9' {
		return -1
	}
	return int(key[0] - '1')
}

func (s State) leaveForm() State {
	s.mode, s.form, s.detail = listMode, form{}, detail{}
	return s
}

// take takes the choice under the cursor, or those that are marked.
func (f form) take(all []choice) form {
	if f.cursor >= len(all) {
		return f
	}

	c := all[f.cursor]
	name := c.name
	if marked := f.markedNames(all); len(marked) > 0 && !c.words && !c.whole {
		name = strings.Join(marked, ", ")
	}

	switch {
	case c.words:
		f.typing, f.input = true, ""
	case c.whole || !f.several():
		f.option, f.message = name, ""
		f.typing = takesMessage(c.name)
		f.input, f.confirm = "", !f.typing
	default:
		f = f.nextQuestion(name)
	}
	return f
}

func (f *form) markedNames(all []choice) (names []string) {
	for i, c := range all {
		if f.marked[i] {
			names = append(names, c.name)
		}
	}
	return names
}

// nextQuestion keeps the answer to one question, and goes on to the next or to the end.
func (f form) nextQuestion(answer string) form {
	f.answers = append(slices.Clone(f.answers), answer)
	f.at, f.cursor, f.marked, f.typing, f.input = f.at+1, 0, nil, false, ""
	f.confirm = f.at == len(f.decision.Questions())
	return f
}

func typeForm(s State, k Key) State {
	f := s.form
	switch text := strings.TrimSpace(f.input); k.Name {
	case "esc":
		f.typing, f.option = false, ""
	case "enter":
		switch {
		case text == "" && f.option == "":
			s.notice = notice{"type something, or esc to go back", true}
		case f.several() && f.option == "":
			f = f.nextQuestion(text)
		default:
			f.message, f.typing, f.confirm = text, false, true
		}
	default:
		f.input = edited(f.input, k)
	}
	s.form = f
	return s
}

// confirmForm sends the answer when the person says so once more.
func confirmForm(s State, k Key) (State, []any) {
	switch k.Name {
	case "y": // and not enter, which was pressed to choose
		s.form.sending = true
		return s, []any{Answer{s.form.decision.ID, s.form.answer()}}
	case "esc", "n", "h":
		s.form = form{decision: s.form.decision}
	}
	return s, nil
}

// answer is what is sent.
func (f *form) answer() daemonapi.Answer {
	if f.several() && f.option == "" {
		return daemonapi.Answer{Answers: f.answers}
	}
	return daemonapi.Answer{Option: f.option, Message: f.message}
}

// chosen is the answer in words.
func (f *form) chosen() string {
	var parts []string
	for _, part := range append([]string{f.option}, f.answers...) {
		if part = line(part); part != "" {
			parts = append(parts, part)
		}
	}
	if f.option != "" && f.several() {
		parts = parts[:1]
	}
	if words := line(f.message); words != "" {
		parts = append(parts, fmt.Sprintf("“%s”", words))
	}
	return strings.Join(parts, ", ")
}
