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
	r := rawjson.NewReader(text)
	r.Object(func() {
		if r.Has("on_stop") {
			onStop = r.String()
		}
	})
	if r.Done() {
		return onStop
	}
	var config struct {
		OnStop string `json:"on_stop"`
	}
	if json.Unmarshal(text, &config) != nil {
		return ""
	}
	return config.OnStop
}

// WriteConfig writes what a stop of the agent means. Its stop hook reads the file, so it
// is there before the agent is.
func (d Dir) WriteConfig(onStop string) error {
	var w rawjson.Writer
	w.String(onStop)
	return d.durable(fmt.Appendf(nil, `{"on_stop":%s}`, w.Text), "config.json")
}

// Session is the client's session that the agent's hooks count for. Others come and go in
// its environment: what the agent itself starts, and reviews.
type Session struct {
	ID string `json:"session"`
	// Left says that the client has left it, by /clear or /resume: the next session that
	// starts so is its successor.
	Left bool `json:"left,omitempty"`
}

// Session is the session on record.
func (d Dir) Session() (Session, error) {
	text, err := d.read("session.json")
	if err != nil {
		return Session{}, err
	}
	return parse(text, d.Path("session.json"), (*Session).read)
}

// read reads one that was not left, as it nearly always is. One that was left has another
// member, and is read by encoding/json.
func (s *Session) read(r *rawjson.Reader) {
	if r.Has("session") {
		s.ID = r.String()
	}
}

// SetSession puts a session on record.
func (d Dir) SetSession(s Session) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return d.durable(text, "session.json")
}

// Terminal is where a client is to be seen.
type Terminal struct {
	Socket  string `json:"socket"` // of the tmux server
	Session string `json:"session"`
}

// Terminal is where the client is to be seen; none where the agent is no client.
func (d Dir) Terminal() (Terminal, error) {
	text, err := d.read("terminal.json")
	if err != nil {
		return Terminal{}, err
	}
	return parse(text, d.Path("terminal.json"), func(t *Terminal, r *rawjson.Reader) {
		if r.Has("socket") {
			t.Socket = r.String()
		}
		if r.Has("session") {
			t.Session = r.String()
		}
	})
}

// SetTerminal puts on record where the client is to be seen.
func (d Dir) SetTerminal(t Terminal) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return d.durable(text, "terminal.json")
}

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
	text, err := d.read("last.json")
	if err != nil {
		return Last{}, err
	}
	return parse(text, d.Path("last.json"), (*Last).read)
}

func (l *Last) read(r *rawjson.Reader) {
	fields := []struct {
		name string
		to   *string
	}{{"message", &l.Message}, {"transcript", &l.Transcript}, {"cwd", &l.Cwd}, {"prompt", &l.Prompt}}
	for _, f := range fields {
		if r.Has(f.name) {
			*f.to = r.String()
		}
	}
	if r.Has("time") {
		t, err := time.Parse(time.RFC3339Nano, r.String())
		if err != nil {
			r.GiveUp()
		}
		l.Time = t
	}
	if r.Has("error") {
		l.Error = r.String()
	}
}

// SetLast replaces what the agent said last.
func (d Dir) SetLast(l Last) error {
	var w rawjson.Writer
	w.Object(func() {
		member := func(name, value string) { w.Name(name); w.String(value) }
		member("message", clip(l.Message, MaxMessage))
		member("transcript", l.Transcript)
		member("cwd", l.Cwd)
		member("prompt", clip(l.Prompt, MaxMessage))
		member("time", stamp(l.Time))
		if l.Error != "" {
			member("error", clip(l.Error, MaxMessage))
		}
	})
	return d.passing(append(w.Text, '\n'), "last.json")
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
		return fmt.Errorf("%.80q is no name of a call", ref)
	case len(a.Input) > MaxInput:
		return fmt.Errorf("what the agent asks takes %d bytes, more than %d", len(a.Input), MaxInput)
	case len(a.Input) > 0 && !json.Valid(a.Input):
		return fmt.Errorf("what the agent asks is no JSON")
	}
	var w rawjson.Writer
	w.Object(func() {
		w.Name("type")
		w.String(a.Type)
		w.Name("tool")
		w.String(a.Tool)
		w.Name("input")
		if len(a.Input) == 0 {
			w.Null()
			return
		}
		w.Text = append(w.Text, a.Input...)
	})
	return d.passing(append(w.Text, '\n'), "asked", ref+".json")
}

// Asked is what the agent asks under that name.
func (d Dir) Asked(ref string) (a Asked, err error) {
	if !plain.IsName(ref, 128) {
		return a, fmt.Errorf("%.80q is no name of a call", ref)
	}
	text, err := d.read("asked", ref+".json")
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return Asked{}, fmt.Errorf("%s: %w", d.Path("asked", ref+".json"), err)
	}
	if bytes.Equal(a.Input, []byte("null")) {
		a.Input = nil
	}
	return a, nil
}

// parse reads a file of ours, by hand where it is as we write it.
func parse[T any](text []byte, path string, read func(*T, *rawjson.Reader)) (T, error) {
	var quick, slow T
	r := rawjson.NewReader(text)
	r.Object(func() { read(&quick, r) })
	if r.Done() {
		return quick, nil
	}
	if err := json.Unmarshal(text, &slow); err != nil {
		return *new(T), fmt.Errorf("%s: %w", path, err)
	}
	return slow, nil
}
