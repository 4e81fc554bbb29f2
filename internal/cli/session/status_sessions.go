package session

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// SessionsStatus is what goes on in tmux sessions, whatever project they are in.
type SessionsStatus struct {
	Queues []queueView `json:"queues,omitempty"`
	Outbox []mailbox   `json:"outbox,omitempty"`
	// Registry is what is wrong with agent-registry.json.
	Registry string `json:"registry_faults,omitempty"`
}

// mailbox is what one agent has not been told.
type mailbox struct {
	Agent     string      `json:"agent"`
	Waiting   int         `json:"waiting"`
	Oldest    time.Time   `json:"oldest,omitzero"`
	Tries     int         `json:"tries,omitempty"` // of the oldest
	LastError string      `json:"last_error,omitempty"`
	Dead      int         `json:"dead"`
	Newest    *deadLetter `json:"newest_dead,omitempty"`
}

// deadLetter is one that was given up.
type deadLetter struct {
	Path string    `json:"path"`
	Why  string    `json:"why"`
	Time time.Time `json:"time,omitzero"`
}

func ReadSessions(stateDir, configDir string) (SessionsStatus, error) {
	var s SessionsStatus
	if _, err := registry.Load(registry.Path(configDir)); err != nil {
		s.Registry = err.Error()
	}
	list, err := (&desk{stateDir: stateDir, queues: queue.NewStore(stateDir)}).list()
	if err != nil {
		return s, err
	}
	s.Queues = list.queues
	boxes, err := wake.NewOutbox(stateDir).Summary()
	for _, box := range boxes {
		s.Outbox = append(s.Outbox, mailboxOf(box))
	}
	return s, err
}

func mailboxOf(a wake.AgentSummary) mailbox {
	m := mailbox{Agent: a.AgentID, Waiting: a.Waiting, Oldest: a.Oldest, Tries: a.Tries, LastError: a.LastError, Dead: len(a.Dead)}
	if len(a.Dead) > 0 {
		m.Newest = &deadLetter{Path: a.Dead[0].Path, Why: a.Dead[0].Why, Time: a.Dead[0].Time}
	}
	return m
}

// Print shows what is under way, and what waits for somebody.
func (s *SessionsStatus) Print(p term.Paint, row func(name, text, hint string)) {
	if s.Registry != "" {
		row("registry", p.Red("has problems: agents may not be woken"), "stopgate registry check")
	}
	if len(s.Queues) > 0 {
		row("queues", plain.Count(len(s.Queues), "session")+" with queued commands", "stopgate queue list")
	}
	for _, v := range s.Queues {
		switch {
		case v.Fault != "":
			row("queue", p.Red(term.Shown(v.Session)+" is "+v.State), v.Path)
		case v.Waits != "":
			row("queue", p.Yellow(term.Shown(v.Session)+" waits: "+v.Waits), "stopgate queue show "+term.ShellWord(v.Session))
		}
	}
	for _, m := range s.Outbox {
		if m.Waiting > 0 {
			row("outbox", m.waiting(p), "")
		}
		if m.Dead > 0 {
			row("outbox", m.dead(p), filepath.Dir(m.Newest.Path))
		}
	}
}

// waiting colours only what was tried in vain: a letter is on its way for a moment
// each time.
func (m *mailbox) waiting(p term.Paint) string {
	text := fmt.Sprintf("%s for %s waiting since %s", plain.Count(m.Waiting, "message"), term.Shown(m.Agent), m.Oldest.Local().Format(time.DateTime))
	if m.LastError == "" {
		return text
	}
	times := "once"
	if m.Tries > 1 {
		times = plain.Count(m.Tries, "time")
	}
	return p.Yellow(fmt.Sprintf("%s, tried %s: %s", text, times, plain.Line(m.LastError)))
}

func (m *mailbox) dead(p term.Paint) string {
	return p.Red(fmt.Sprintf("%s for %s could not be delivered; the last error: %s", plain.Count(m.Dead, "message"), term.Shown(m.Agent), plain.Line(m.Newest.Why)))
}
