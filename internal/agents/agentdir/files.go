package agentdir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// The ways in which an agent may stop.
const (
	Signal   = "signal"
	Idle     = "idle"
	Escalate = "escalate"
)

// OnStop is what a stop of the agent means. Without a file, or with one that says nothing
// of the kind, it must signal.
func (d Dir) OnStop() string {
	text, err := d.read("config.json")
	if err != nil {
		return Signal
	}
	switch onStop := parseConfig(text); onStop {
	case Idle, Escalate:
		return onStop
	}
	return Signal
}

func parseConfig(text []byte) (onStop string) {
	var config config
	if json.Unmarshal(text, &config) != nil {
		return ""
	}
	return config.OnStop
}

type config struct {
	OnStop string `json:"on_stop"`
}

// WriteConfig writes what a stop of the agent means. Its stop hook reads the file, so it
// is there before the agent is.
func (d Dir) WriteConfig(onStop string) error {
	return d.durable(config{onStop}, "config.json")
}

// Session is Claude Code's session that the agent's hooks count for. Others come and go in
// its environment: what the agent itself starts, and reviews.
type Session struct {
	ID string `json:"session"`
	// Left says that Claude Code has left it, by /clear or /resume: the next session that
	// starts so is its successor.
	Left bool `json:"left,omitempty"`
}

// Session is the session on record.
func (d Dir) Session() (Session, error) {
	return parse[Session](d, "session.json")
}

// SetSession puts a session on record.
func (d Dir) SetSession(s Session) error { return d.durable(s, "session.json") }

// Terminal is where a client is to be seen.
type Terminal struct {
	Socket  string `json:"socket"` // of the tmux server
	Session string `json:"session"`
}

// Terminal is the tmux session that shows the agent; the error is fs.ErrNotExist where the agent is a plain process.
func (d Dir) Terminal() (Terminal, error) {
	return parse[Terminal](d, "terminal.json")
}

// SetTerminal records the tmux session that shows the agent.
func (d Dir) SetTerminal(t Terminal) error { return d.durable(t, "terminal.json") }

// Last is what the agent said last, for whoever decides.
type Last struct {
	Message    string    `json:"message"` // its end, where it is long
	Transcript string    `json:"transcript"`
	Cwd        string    `json:"cwd"`
	Prompt     string    `json:"prompt"` // the id of the prompt that it answers
	Time       time.Time `json:"time"`
	Error      string    `json:"error,omitempty"` // the turn failed for that
}

// Last is what is on record.
func (d Dir) Last() (Last, error) {
	return parse[Last](d, "last.json")
}

// SetLast replaces what the agent said last.
func (d Dir) SetLast(l Last) error {
	l.Message, l.Prompt, l.Error = clip(l.Message, MaxMessage), clip(l.Prompt, MaxMessage), clip(l.Error, MaxMessage)
	l.Time = l.Time.UTC()
	text, err := rawjson.Lines(l)
	if err != nil {
		return err
	}
	return d.passing(text, "last.json")
}

// The kinds of what an agent asks.
const (
	Question   = "question"
	Plan       = "plan"
	Permission = "permission"
)

// Asked is what the agent asks a person: the tool that it wants to use, with its input.
type Asked struct {
	Type  string          `json:"type"` // question, plan or permission
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// Ask puts on record what the agent asks, under the name of the call that waits for the
// answer.
func (d Dir) Ask(ref string, a Asked) error {
	switch {
	case !plain.IsName(ref, 128):
		return fmt.Errorf("invalid call id %.80q", ref)
	case len(a.Input) > MaxInput:
		return fmt.Errorf("the agent's question has %d bytes, more than %d", len(a.Input), MaxInput)
	case len(a.Input) > 0 && !json.Valid(a.Input):
		return fmt.Errorf("the agent's question is not valid JSON")
	}
	text, err := rawjson.Marshal(a)
	if err != nil {
		return err
	}
	return d.passing(append(text, '\n'), "asked", ref+".json")
}

// Asked is what the agent asks under that name.
func (d Dir) Asked(ref string) (a Asked, err error) {
	if !plain.IsName(ref, 128) {
		return a, fmt.Errorf("invalid call id %.80q", ref)
	}
	if a, err = parse[Asked](d, "asked", ref+".json"); bytes.Equal(a.Input, []byte("null")) {
		a.Input = nil
	}
	return a, err
}

// parse reads a file of ours.
func parse[T any](d Dir, name ...string) (v T, err error) {
	text, err := d.read(name...)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return *new(T), fmt.Errorf("%s: %w", d.Path(name...), err)
	}
	return v, nil
}
