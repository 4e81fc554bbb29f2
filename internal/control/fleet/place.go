package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// place is where something is: an owner of another machine, or this machine, which is the zero place.
type place struct {
	host  string
	owner daemonapi.Owner // as its machine showed it last
	id    string          // of what is looked for
}

// path is the path of the owner in the API of its machine.
func (p place) path() string {
	if p.owner.Kind == "run" {
		return "/v1/runs/" + p.owner.ID
	}
	return "/v1/pipelines/" + p.owner.ID
}

// What is looked for by its id.
type kind struct {
	of    func(o *daemonapi.Owner) string // the id of it that an owner has; empty where it has none
	line  func(o *daemonapi.Owner) string // one of several in a list
	paths []string                        // where it may be asked for by its id
	read  func(text []byte) (daemonapi.Owner, error)
}

var (
	owners = kind{
		of:    func(o *daemonapi.Owner) string { return o.ID },
		line:  (*daemonapi.Owner).Line,
		paths: []string{"/v1/pipelines/", "/v1/runs/"},
		read: func(text []byte) (o daemonapi.Owner, err error) {
			err = json.Unmarshal(text, &o)
			return o, err
		},
	}
	agents = kind{
		of: func(o *daemonapi.Owner) string {
			if o.Agent == nil {
				return ""
			}
			return o.Agent.ID
		},
		line:  func(o *daemonapi.Owner) string { return o.Agent.Line() },
		paths: []string{"/v1/agents/"},
		read: func(text []byte) (daemonapi.Owner, error) {
			var a daemonapi.Agent
			err := json.Unmarshal(text, &a)
			return daemonapi.Owner{ID: a.Owner, Agent: &a}, err
		},
	}
	decisions = kind{
		of: func(o *daemonapi.Owner) string {
			if o.Decision == nil {
				return ""
			}
			return o.Decision.ID
		},
		line: func(o *daemonapi.Owner) string {
			return fmt.Sprintf("  %s  %s, step %s (%s)", o.Decision.ID, plain.Line(o.Name), plain.Line(o.Decision.Step), o.Decision.Source)
		},
		paths: []string{"/v1/decisions/"},
		read: func(text []byte) (daemonapi.Owner, error) {
			var d daemonapi.Decision
			err := json.Unmarshal(text, &d)
			return daemonapi.Owner{ID: d.Owner, Name: d.Name, Decision: &d}, err
		},
	}
)

// find finds where something is by its id or the beginning of it. own is the id of what this machine has of
// that name, and err why it has none. An id that is given whole is that of this
// machine where it has it.
func (p *Plane) find(ctx context.Context, k kind, id, own string, err error) (place, error) {
	if err == nil && own == id || p.alone() {
		return place{}, err
	}

	var found, exact []place
	for host, o := range p.f.others.All() {
		switch whole := k.of(o); {
		case id == "" || whole == "":
		case whole == id:
			exact = append(exact, place{host, *o, whole})
		case strings.HasPrefix(whole, id):
			found = append(found, place{host, *o, whole})
		}
	}

	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(exact) > 1: // one of them says what is not so
		return place{}, p.ambiguous(k, id, own, err, exact)
	}

	code := daemonapi.Code(err)
	if len(found) == 0 && code == "not_found" {
		found = p.seek(ctx, k, id)
	}
	switch {
	case len(found) == 0 || err != nil && code != "not_found" && code != "conflict":
		return place{}, err
	case len(found) == 1 && code == "not_found":
		return found[0], nil
	}
	return place{}, p.ambiguous(k, id, own, err, found)
}

// ambiguous is the refusal of a prefix that ids of several machines have.
func (p *Plane) ambiguous(k kind, id, own string, err error, found []place) error {
	var lines []string
	switch e, _ := err.(*daemonapi.Error); {
	case err == nil:
		lines = append(lines, "  "+own+"  on this machine")
	case e != nil && e.Code == "conflict":
		for line := range strings.SplitSeq(e.Hint, "\n") {
			lines = append(lines, strings.TrimRight(line, " ")+", on this machine")
		}
	}
	for _, at := range found {
		lines = append(lines, k.line(&at.owner)+", on "+at.host)
	}
	return api.Ambiguous(id, lines)
}
