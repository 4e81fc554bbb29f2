package top

import (
	"time"
	"unicode/utf8"
)

// press is the state after a key.
func press(s State, k Key) (State, []any) {
	switch k.Name {
	case "ctrl+c":
		return s, []any{Quit{}}
	case "ctrl+z":
		return s, []any{Suspend{}}
	}

	if s.typing {
		return typeFilter(s, k), nil
	}
	if s.mode == formMode {
		return pressForm(s, k)
	}

	s.notice = notice{}
	switch k.Name {
	case "q":
		return s, []any{Quit{}}
	case "r":
		s.notice.text, s.projects.at = "asking again", time.Time{}
		effects := []any{Refresh{}}
		if s.mode == detailMode {
			effects = append(effects, Show{s.detail.ref})
		}
		return s, effects
	case "?":
		return s.toggleHelp(), nil
	}

	switch s.mode {
	case helpMode:
		if k.Name == "esc" || k.Name == "h" || k.Name == "enter" {
			return s.toggleHelp(), nil
		}
		s.scroll = moved(s.scroll, s.body(), k.Name)
		return s, nil
	case logMode:
		return pressLog(s, k)
	case detailMode:
		return pressDetail(s, k)
	}
	return pressList(s, k)
}

func (s State) toggleHelp() State {
	s.scroll = 0
	if s.mode == helpMode {
		s.mode = s.under
		return s
	}
	s.mode, s.under = helpMode, s.mode
	return s
}

// typeFilter edits the filter, which holds at once.
func typeFilter(s State, k Key) State {
	switch k.Name {
	case "enter":
		s.typing = false
	case "esc":
		s.typing, s.filter = false, ""
	default:
		s.filter = edited(s.filter, k)
	}
	return s
}

// maxTyped is far more than a person types.
const maxTyped = 16 << 10

// edited is a text after a key.
func edited(text string, k Key) string {
	switch k.Name {
	case "backspace", "ctrl+h":
		_, size := utf8.DecodeLastRuneInString(text)
		return text[:len(text)-size]
	case "ctrl+u":
		return ""
	case "ctrl+w":
		end := len(text)
		for end > 0 && text[end-1] == ' ' {
			end--
		}
		for end > 0 && text[end-1] != ' ' {
			end--
		}
		return text[:end]
	}

	if len(text)+len(k.Text) > maxTyped {
		return text
	}
	return text + k.Text
}

func pressList(s State, k Key) (State, []any) {
	rows := s.table.rows
	at, found := s.selected()
	switch k.Name {
	case "/":
		s.typing = true
		return s, nil
	case "esc", "h":
		s.filter = ""
		return s, nil
	case "f":
		s.finished = !s.finished
		return s, nil
	case "tab", "right":
		s.view = (s.view + 1) % view(len(views))
		return s, nil
	case "shift+tab", "left":
		s.view = (s.view + view(len(views)) - 1) % view(len(views))
		return s, nil
	}
	if len(k.Name) == 1 && k.Name[0] >= '1' && int(k.Name[0]-'1') < len(views) {
		s.view = view(k.Name[0] - '1')
		return s, nil
	}
	if !found {
		return s, nil
	}
	if to := moved(at, s.body(), k.Name); to != at {
		to = min(to, len(rows)-1)
		s.cursors[s.view] = cursor{rows[to].ref, to}
		return s, nil
	}

	s.cursors[s.view] = cursor{rows[at].ref, at}
	if k.Name == "enter" {
		s.mode, s.scroll = detailMode, 0
		if s.detail = (detail{ref: rows[at].ref}); s.peek.ref == s.detail.ref {
			s.detail = s.peek // until there is an answer
		}
		return s, []any{Show{rows[at].ref}}
	}
	return s.act(rows[at], k.Name)
}

// moved is where a key leads in a list of any length, whose screen has so many lines.
func moved(at, height int, key string) int {
	const end = 1 << 30
	half := max(1, height/2)
	switch key {
	case "j", "down":
		return at + 1
	case "k", "up":
		return max(0, at-1)
	case "g", "home":
		return 0
	case "G", "shift+g", "end":
		return end
	case "ctrl+d", "pgdown":
		return at + half
	case "ctrl+u", "pgup":
		return max(0, at-half)
	}
	return at
}

// act is what can be done about a row, from any screen.
func (s State) act(r row, key string) (State, []any) {
	switch key {
	case "l":
		if r.owner == "" {
			s.notice = notice{"it has no log", true}
			return s, nil
		}
		s.mode, s.log = logMode, log{owner: r.owner, title: r.what, under: s.mode, host: r.away.Host}
		return s, []any{Follow{r.owner, r.away.Host != ""}}
	case "a":
		return s.attach(r)
	case "d":
		return s.decide(r)
	}
	return s, nil
}

// attach follows the rule of the command line: an agent may look, and not type.
func (s State) attach(r row) (State, []any) {
	switch {
	case r.ref.Kind == SessionRow:
		s.notice = notice{"attach to your own session with: tmux attach -t " + line(r.what), false}
	case r.agent == nil:
		s.notice = notice{"no agent runs there", true}
	case r.away.Host != "":
		s.notice = notice{"it is on another machine; attach to it there with: " + s.attachThere(r.agent, r.away.Host), false}
	case !r.agent.ClaudeCode:
		s.notice = notice{"it has no terminal: it is not Claude Code; l follows its log", true}
	case r.agent.Status == "queued":
		s.notice = notice{"it has not started yet", true}
	case r.agent.Status == "exited":
		s.notice = notice{"it has ended; l shows its log", true}
	default:
		return s, []any{Attach{r.agent.ID, s.Agent != ""}}
	}
	return s, nil
}

func pressDetail(s State, k Key) (State, []any) {
	switch k.Name {
	case "esc", "h":
		s.mode, s.detail = listMode, detail{}
		return s, nil
	case "a", "d", "l":
		if r, found := s.rowOf(s.detail.ref); found {
			return s.act(r, k.Name)
		}
	}
	s.scroll = min(moved(s.scroll, s.body(), k.Name), max(0, len(s.detailLines())-s.body()))
	return s, nil
}

func pressLog(s State, k Key) (State, []any) {
	most := max(0, len(s.log.lines)-s.body())
	half := max(1, s.body()/2)
	switch k.Name {
	case "esc", "h":
		s.mode, s.log = s.log.under, log{}
		return s, []any{Follow{}}
	case "k", "up":
		s.log.up++
	case "j", "down":
		s.log.up--
	case "ctrl+u", "pgup":
		s.log.up += half
	case "ctrl+d", "pgdown":
		s.log.up -= half
	case "g", "home":
		s.log.up = most
	case "G", "shift+g", "end":
		s.log.up = 0
	}

	s.log.up = min(max(0, s.log.up), most)
	return s, nil
}
