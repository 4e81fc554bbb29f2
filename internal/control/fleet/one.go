package fleet

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/ask"
)

// What to do when it is not known whether another machine has done something.
const (
	repeat    = "repeat the same command: what was done is not done twice"
	lookFirst = "look whether it was done before you repeat it"
)

// Owner implements api.Plane. Of a machine that cannot be asked, or does not let this user look, the answer is what it
// shows to all: those who want to cancel it are told that they need the right to.
func (p *Plane) Owner(ctx context.Context, id string) (daemonapi.Owner, error) {
	own, err := p.Plane.Owner(ctx, id)
	at, err := p.find(ctx, owners, id, own.ID, err)
	if err != nil || at.host == "" {
		return own, err
	}
	o, err := look[daemonapi.Owner](ctx, p, at.host, at.path())
	if code := daemonapi.Code(err); code == "unavailable" || code == "forbidden" {
		return p.away(at.host, at.owner), nil
	}
	return p.away(at.host, o), err
}

// ownerAt finds where an owner is.
func (p *Plane) ownerAt(ctx context.Context, id string) (place, error) {
	if p.alone() {
		return place{}, nil
	}
	own, err := p.Plane.Owner(ctx, id)
	return p.find(ctx, owners, id, own.ID, err)
}

// Cancel implements api.Plane.
func (p *Plane) Cancel(ctx context.Context, id string, c daemonapi.Cancel) (daemonapi.Owner, error) {
	at, err := p.ownerAt(ctx, id)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	if at.host == "" {
		return p.Plane.Cancel(ctx, id, c)
	}
	o, err := act[daemonapi.Owner](ctx, p, at.host, at.path()+"/cancel", c, repeat)
	return p.changed(at.host, o, err)
}

// Resume implements api.Plane.
func (p *Plane) Resume(ctx context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error) {
	at, err := p.ownerAt(ctx, id)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	if at.host == "" {
		return p.Plane.Resume(ctx, id, r)
	}
	o, err := act[daemonapi.Owner](ctx, p, at.host, at.path()+"/resume", r, lookFirst+": stopgate pipeline show "+at.id)
	return p.changed(at.host, o, err)
}

// Graph implements api.Plane.
func (p *Plane) Graph(ctx context.Context, id string) (daemonapi.Graph, error) {
	at, err := p.ownerAt(ctx, id)
	if err != nil {
		return daemonapi.Graph{}, err
	}
	if at.host == "" {
		return p.Plane.Graph(ctx, id)
	}
	return look[daemonapi.Graph](ctx, p, at.host, at.path()+"/graph")
}

// Picture implements api.Plane.
func (p *Plane) Picture(ctx context.Context, id string) ([]byte, error) {
	at, err := p.ownerAt(ctx, id)
	if err != nil {
		return nil, err
	}
	if at.host == "" {
		return p.Plane.Picture(ctx, id)
	}
	a, err := p.ask(ctx, at.host, ask.Request{Method: http.MethodGet, Path: at.path() + "/graph.svg"}, "")
	return a.Body, err
}

// logPart is how much of another machine's log is asked for at once.
const logPart = 1 << 20

// Log implements api.Plane.
func (p *Plane) Log(ctx context.Context, id string, q api.LogQuery, to io.Writer) error {
	at, err := p.ownerAt(ctx, id)
	if err != nil {
		return err
	}
	switch {
	case at.host == "":
		return p.Plane.Log(ctx, id, q, to)
	case q.Follow:
		return api.Refusal("invalid", "the log is on "+at.host+", and cannot be followed from here", "run the command on "+at.host)
	case q.Tail > 0:
		_, _, err := p.logPart(ctx, at, q, to)
		return err
	}

	left := q.Limit
	for begun := false; ; begun = true {
		part := q
		part.Limit = logPart
		if q.Limit > 0 {
			part.Limit = min(left, logPart)
		}
		if begun {
			part.Begin = func(int64, int64) {}
		}

		from, size, err := p.logPart(ctx, at, part, to)
		q.Offset, left = from+part.Limit, left-part.Limit
		if err != nil || q.Offset >= size || q.Limit > 0 && left <= 0 {
			return err
		}
	}
}

// logPart writes a part of another machine's log, and says where it begins and how much there is in all.
func (p *Plane) logPart(ctx context.Context, at place, q api.LogQuery, to io.Writer) (from, size int64, err error) {
	query := url.Values{}
	for name, n := range map[string]int64{"offset": q.Offset, "limit": q.Limit, "tail": int64(q.Tail)} {
		if n > 0 {
			query.Set(name, strconv.FormatInt(n, 10))
		}
	}
	if q.Step != "" {
		query.Set("step", q.Step)
	}
	a, err := p.ask(ctx, at.host, ask.Request{Method: http.MethodGet, Path: at.path() + "/log?" + query.Encode()}, "")
	if err != nil {
		return 0, 0, err
	}
	from, _ = strconv.ParseInt(a.Header.Get(api.LogOffset), 10, 64) // a log without a size is over
	size, _ = strconv.ParseInt(a.Header.Get(api.LogSize), 10, 64)
	q.Begin(from, size)
	_, err = to.Write(a.Body)
	return from, size, err
}

// agentAt finds where an agent is.
func (p *Plane) agentAt(ctx context.Context, id string) (place, error) {
	if p.alone() {
		return place{}, nil
	}
	own, err := p.Plane.Agent(ctx, id)
	return p.find(ctx, agents, id, own.ID, err)
}

// Agent implements api.Plane.
func (p *Plane) Agent(ctx context.Context, id string) (daemonapi.Agent, error) {
	own, err := p.Plane.Agent(ctx, id)
	at, err := p.find(ctx, agents, id, own.ID, err)
	if err != nil || at.host == "" {
		return own, err
	}
	a, err := look[daemonapi.Agent](ctx, p, at.host, "/v1/agents/"+at.id)
	if daemonapi.Code(err) == "unavailable" {
		return *p.away(at.host, at.owner).Agent, nil
	}
	a.Away = p.awayFrom(at.host)
	return a, err
}

func (p *Plane) awayFrom(host string) daemonapi.Away {
	return daemonapi.Away{Host: host, Heard: p.f.heard(host)}
}

// Conversation implements api.Plane.
func (p *Plane) Conversation(ctx context.Context, agent string, r api.Range) (daemonapi.Conversation, error) {
	at, err := p.agentAt(ctx, agent)
	if err != nil {
		return daemonapi.Conversation{}, err
	}
	if at.host == "" {
		return p.Plane.Conversation(ctx, agent, r)
	}
	query := url.Values{"limit": {strconv.Itoa(r.Limit)}}
	if !r.Before {
		query.Set("after", strconv.FormatInt(r.At, 10))
	} else if r.At > 0 {
		query.Set("before", strconv.FormatInt(r.At, 10))
	}
	return look[daemonapi.Conversation](ctx, p, at.host, "/v1/agents/"+at.id+"/conversation?"+query.Encode())
}

// Screen implements api.Plane.
func (p *Plane) Screen(ctx context.Context, agent string, ansi bool) (daemonapi.Screen, error) {
	at, err := p.agentAt(ctx, agent)
	if err != nil {
		return daemonapi.Screen{}, err
	}
	if at.host == "" {
		return p.Plane.Screen(ctx, agent, ansi)
	}
	path := "/v1/agents/" + at.id + "/screen"
	if ansi {
		path += "?ansi=1"
	}
	return look[daemonapi.Screen](ctx, p, at.host, path)
}

// Send implements api.Plane.
func (p *Plane) Send(ctx context.Context, agent string, s daemonapi.Send) (daemonapi.Agent, error) {
	at, err := p.agentAt(ctx, agent)
	if err != nil {
		return daemonapi.Agent{}, err
	}
	if at.host == "" {
		return p.Plane.Send(ctx, agent, s)
	}
	a, err := act[daemonapi.Agent](ctx, p, at.host, "/v1/agents/"+at.id+"/send", s, lookFirst+": stopgate agent logs "+at.id)
	a.Away = p.awayFrom(at.host)
	return a, err
}

// Kill implements api.Plane.
func (p *Plane) Kill(ctx context.Context, agent string, k daemonapi.Kill) (daemonapi.Agent, error) {
	at, err := p.agentAt(ctx, agent)
	if err != nil {
		return daemonapi.Agent{}, err
	}
	if at.host == "" {
		return p.Plane.Kill(ctx, agent, k)
	}
	a, err := act[daemonapi.Agent](ctx, p, at.host, "/v1/agents/"+at.id+"/kill", k, repeat)
	a.Away = p.awayFrom(at.host)
	return a, err
}

// Decision implements api.Plane.
func (p *Plane) Decision(ctx context.Context, id string) (daemonapi.Decision, error) {
	own, err := p.Plane.Decision(ctx, id)
	at, err := p.find(ctx, decisions, id, own.ID, err)
	if err != nil || at.host == "" {
		return own, err
	}
	d, err := look[daemonapi.Decision](ctx, p, at.host, "/v1/decisions/"+at.id)
	if daemonapi.Code(err) == "unavailable" {
		return *p.away(at.host, at.owner).Decision, nil
	}
	d.Away = p.awayFrom(at.host)
	return d, err
}

// Answer implements api.Plane.
func (p *Plane) Answer(ctx context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error) {
	if p.alone() {
		return p.Plane.Answer(ctx, id, a)
	}
	own, err := p.Plane.Decision(ctx, id)
	at, err := p.find(ctx, decisions, id, own.ID, err)
	if err != nil {
		return daemonapi.Decision{}, err
	}
	if at.host == "" {
		return p.Plane.Answer(ctx, id, a)
	}
	d, err := act[daemonapi.Decision](ctx, p, at.host, "/v1/decisions/"+at.id+"/answer", a, repeat)
	if err == nil && at.owner.Kind != "" { // it is not open any more
		at.owner.Decision = nil
		p.f.others.Put(at.host, at.owner)
	}
	d.Away = p.awayFrom(at.host)
	return d, err
}

// Start implements api.Plane. On another machine the project goes by its name, and variables of this machine's
// environment stay here.
func (p *Plane) Start(ctx context.Context, s daemonapi.Start) (daemonapi.Owner, error) {
	if s.Host == "" || p.isHere(s.Host) {
		return p.Plane.Start(ctx, s)
	}
	if !p.f.knows(s.Host) {
		return daemonapi.Owner{}, p.stranger(s.Host)
	}
	there := daemonapi.Start{ID: s.ID, Command: s.Command, Args: s.Args, Runbook: s.Runbook, Host: s.Host, ProjectName: s.ProjectName}
	o, err := act[daemonapi.Owner](ctx, p, s.Host, "/v1/start", there, "look whether it was started before you repeat it: stopgate pipeline show "+s.ID)
	return p.changed(s.Host, o, err)
}

// changed is what another machine answered, which lists show from now on: what it publishes comes a moment later.
func (p *Plane) changed(host string, o daemonapi.Owner, err error) (daemonapi.Owner, error) {
	if err == nil {
		p.f.others.Put(host, o)
	}
	return p.away(host, o), err
}
