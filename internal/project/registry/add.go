package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// Entry is an agent as Add writes it.
type Entry struct {
	AgentID           string        `json:"agent_id"`
	Enabled           bool          `json:"enabled"`
	SessionName       string        `json:"session_name"`
	WorkingDirectory  string        `json:"working_directory,omitempty"`
	OpenclawSessionID string        `json:"openclaw_session_id,omitempty"`
	Gateway           *EntryGateway `json:"gateway,omitempty"`
}

// EntryGateway is a gateway as Add writes it.
type EntryGateway struct {
	Transport string   `json:"transport,omitempty"`
	URL       string   `json:"url,omitempty"`
	Command   []string `json:"command,omitempty"`
	Session   string   `json:"session,omitempty"`
}

// TakenError refuses a second entry for a session.
type TakenError struct{ Session, AgentID string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("the session %q has an agent already: %s", e.Session, e.AgentID)
}

// Check names what would keep the entry from counting.
func (e Entry) Check() error {
	text, err := json.Marshal(map[string]any{"agents": []Entry{e}})
	if err != nil {
		return err
	}
	doc, err := jsonfile.Parse("", text)
	if err != nil {
		return err
	}
	r := newReader("", doc, false)
	r.file()
	if r.Count == 0 {
		return nil
	}
	var lines []string
	for _, fault := range r.Faults() {
		lines = append(lines, strings.TrimPrefix(fault.Message, "agents[0]."))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Add adds an entry at the end of the file, which is made when it is missing. All else
// in it stays as it is.
func Add(path string, e Entry) error {
	if err := e.Check(); err != nil {
		return err
	}
	_, err := jsonfile.Edit(path, e.addTo)
	return err
}

// Added is the text of a registry with an entry at its end. All else in it stays as it is. The name
// is for errors.
func Added(name string, text []byte, e Entry) ([]byte, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	d, err := jsonfile.Parse(name, text)
	if err == nil {
		err = d.NeedObject()
	}
	if err == nil {
		err = e.addTo(d)
	}
	if err != nil {
		return nil, err
	}
	return d.Text(), nil
}

// addTo adds the entry to a registry whose top level is an object.
func (e Entry) addTo(d *jsonfile.Document) error {
	root, _ := d.Object()
	l := d.Layout()
	v := l.Ensure(root, d.Spot(), "agents", []Entry{})
	agents, ok := jsonfile.ArrayOf(v)
	if !ok {
		return d.Refuse(v, "agents "+jsonfile.MustBe("an array", v))
	}
	for _, o := range jsonfile.Objects(agents) {
		if jsonfile.StringOf(jsonfile.Member(o, "session_name")) == e.SessionName {
			return &TakenError{e.SessionName, jsonfile.StringOf(jsonfile.Member(o, "agent_id"))}
		}
	}
	l.AppendElement(agents, d.Spot("agents"), e)
	return nil
}
