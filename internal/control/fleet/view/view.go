// Package view shows each machine of a fleet what the others work on. A member publishes the last word about
// each of its pipelines and runs, and reads those of the others into memory.
//
// A view is what the API answers, in the API's words: members of different versions understand each other as
// far as their APIs do. It has no prompt, no variables and nothing of what a tool is to be used for: all of
// that stays on its machine, where it can be asked for.
package view

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// format is the version of what is sent. A reader passes over what is newer: it would not be the same thing.
const format = 1

// message is a view as it is sent. One that was removed has no message at all, but an empty one.
type message struct {
	Format int             `json:"v"`
	Owner  daemonapi.Owner `json:"owner"`
}

var errNewer = errors.New("a newer version of stopgate sent it")

// Decode reads a view of the owner with that id.
func Decode(id string, text []byte) (daemonapi.Owner, error) {
	var m message
	switch err := json.Unmarshal(text, &m); {
	case len(text) > link.MaxView:
		return daemonapi.Owner{}, fmt.Errorf("a view of %d bytes", len(text))
	case err != nil:
		return daemonapi.Owner{}, fmt.Errorf("a view: %w", err)
	case m.Format > format:
		return daemonapi.Owner{}, errNewer
	case m.Owner.ID != id || !daemonapi.IsOwnerID(id):
		return daemonapi.Owner{}, fmt.Errorf("a view of %.40q in the place of %.40q", m.Owner.ID, id)
	case m.Owner.Kind == "" || m.Owner.Status == "" || m.Owner.Created.IsZero():
		return daemonapi.Owner{}, errors.New("a view without a kind, a status or a time")
	case m.Owner.Agent != nil && !daemonapi.IsID(m.Owner.Agent.ID), m.Owner.Decision != nil && !daemonapi.IsID(m.Owner.Decision.ID):
		return daemonapi.Owner{}, errors.New("a view with an invalid id")
	}

	o := m.Owner
	o.Away = daemonapi.Away{}
	if o.Agent != nil {
		o.Agent.Away, o.Agent.Owner = daemonapi.Away{}, id
	}
	if o.Decision != nil {
		o.Decision.Away, o.Decision.Owner = daemonapi.Away{}, id
	}
	return o, nil
}

// Encode is an owner as others see it, with what it says or without words.
func Encode(o daemonapi.Owner, words bool) ([]byte, error) {
	o = public(o)
	if !words {
		o = wordless(o)
	}
	for _, most := range []int{4 << 10, 1 << 10, 200} {
		text, err := rawjson.Marshal(message{format, shortened(o, most)})
		if err != nil || len(text) <= link.MaxView {
			return text, err
		}
	}
	return rawjson.Marshal(message{format, shortened(wordless(o), 200)})
}

// public is an owner without what stays on its machine.
func public(o daemonapi.Owner) daemonapi.Owner {
	o.Vars, o.Steps, o.Outputs, o.Children, o.Notice, o.Away = nil, nil, nil, nil, "", daemonapi.Away{}
	if o.Agent != nil {
		a := *o.Agent
		a.Transcript, a.Away = "", daemonapi.Away{}
		o.Agent = &a
	}
	if o.Decision != nil {
		d := *o.Decision
		d.Details, d.Away = nil, daemonapi.Away{}
		if d.Ask != nil {
			d.Ask = &daemonapi.Ask{Tool: d.Ask.Tool, Questions: d.Ask.Questions}
		}
		o.Decision = &d
	}
	return o
}

// wordless is an owner for members whose users may not see what it says: that it is there, and how far it is.
func wordless(o daemonapi.Owner) daemonapi.Owner {
	silent := daemonapi.Owner{
		ID: o.ID, Kind: o.Kind, Name: o.Name, Step: o.Step, Status: o.Status,
		Created: o.Created, Updated: o.Updated, Ended: o.Ended, Duration: o.Duration, Worked: o.Worked, Parent: o.Parent,
	}
	if o.Agent != nil {
		silent.Agent = &daemonapi.Agent{ID: o.Agent.ID, Name: o.Agent.Name, Step: o.Agent.Step, Status: o.Agent.Status, Started: o.Agent.Started, ClaudeCode: o.Agent.ClaudeCode}
	}
	if o.Decision != nil {
		silent.Decision = &daemonapi.Decision{ID: o.Decision.ID, Name: o.Decision.Name, Source: o.Decision.Source, Step: o.Decision.Step, Created: o.Decision.Created, Job: o.Decision.Job}
	}
	return silent
}

// mostItems is how many options, questions and workspaces are shown.
const mostItems = 20

// shortened is an owner whose texts have so many bytes at most.
func shortened(o daemonapi.Owner, most int) daemonapi.Owner {
	cut := func(texts ...*string) {
		for _, text := range texts {
			*text = plain.Cut(*text, most)
		}
	}

	cut(&o.Name, &o.Command, &o.Project, &o.Cwd, &o.Step, &o.Held, &o.Error, &o.Reason, &o.By)
	o.Workspaces = append([]daemonapi.Workspace(nil), o.Workspaces[:min(len(o.Workspaces), mostItems)]...)
	for i := range o.Workspaces {
		w := &o.Workspaces[i]
		cut(&w.Agent, &w.Path, &w.Branch, &w.Base, &w.Kept, &w.Note)
	}

	if o.WaitsFor != nil {
		room := *o.WaitsFor
		room.Inside = room.Inside[:min(len(room.Inside), mostItems)]
		cut(&room.Group)
		o.WaitsFor = &room
	}
	if o.Agent != nil {
		a := *o.Agent
		cut(&a.Name, &a.Project, &a.Step, &a.Session, &a.Signal)
		o.Agent = &a
	}

	if o.Decision != nil {
		d := *o.Decision
		cut(&d.Name, &d.Project, &d.Source, &d.Step, &d.Context, &d.Message, &d.Closed, &d.JobCommand)
		d.Options = append([]daemonapi.Option(nil), d.Options[:min(len(d.Options), mostItems)]...)
		for i := range d.Options {
			cut(&d.Options[i].Name, &d.Options[i].Description)
		}
		if d.Ask != nil {
			d.Ask = &daemonapi.Ask{Tool: plain.Cut(d.Ask.Tool, most), Questions: shortQuestions(d.Ask.Questions, most)}
		}
		o.Decision = &d
	}
	return o
}

func shortQuestions(questions []daemonapi.Question, most int) (short []daemonapi.Question) {
	for _, q := range questions[:min(len(questions), mostItems)] {
		q.Question, q.Header = plain.Cut(q.Question, most), plain.Cut(q.Header, most)
		var options []daemonapi.Choice
		for _, c := range q.Options[:min(len(q.Options), mostItems)] {
			options = append(options, daemonapi.Choice{Label: plain.Cut(c.Label, most), Description: plain.Cut(c.Description, most)})
		}
		q.Options = options
		short = append(short, q)
	}
	return short
}
