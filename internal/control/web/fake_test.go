package web

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/gate/doctor"
)

// fakePlane shows what a test put into it. What no test needs is not there: it panics.
type fakePlane struct {
	api.Plane

	mu        sync.Mutex
	changed   chan struct{}
	status    daemonapi.Status
	fleet     daemonapi.Fleet
	owners    []daemonapi.Owner
	decisions []daemonapi.Decision
	sessions  []daemonapi.Session
	agents    []daemonapi.Agent
	answers   []daemonapi.Answer
	work      []daemonapi.WorkItem
	queues    []daemonapi.SessionQueue
	messages  []daemonapi.Message // of every session
	spent     []Spent
	store     Soundness
	verified  int
	verifying chan struct{} // closed when the store may be verified; nil is now
	diff      Diff
	noDiff    error
	panics    bool
	hold      chan struct{} // decisions are not told before it is closed; nil is at once
	inside    atomic.Int32  // that are held so
	asked     int
	refusal   error // of what is asked to be done

	pipelines fakePipelines
	jobs      []daemonapi.Job
	caps      []daemonapi.Cap
	noJobs    error // why jobs are not known
	glances   map[string]doctor.Glance

	workspaced map[string]string
}

func newFakePlane() *fakePlane { return &fakePlane{changed: make(chan struct{})} }

// set changes what there is, and rings.
func (p *fakePlane) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.status.Events++
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *fakePlane) Changes() (work, journal <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed, nil
}

func (p *fakePlane) Status(context.Context) daemonapi.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status
	s.Decisions = len(p.decisions)
	return s
}

func (p *fakePlane) Fleet(context.Context) daemonapi.Fleet {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fleet
}

// some is a page of what there is, and a test has less than one page of it.
func some[T any](p *fakePlane, all *[]T, wanted func(T) bool) (api.Page[T], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	page := api.Page[T]{}
	for _, item := range *all {
		if wanted(item) {
			page.Items = append(page.Items, item)
		}
	}
	return page, nil
}

func (p *fakePlane) Owners(_ context.Context, q *api.Query) (api.Page[daemonapi.Owner], error) {
	return some(p, &p.owners, func(o daemonapi.Owner) bool {
		return q.Allows(o.Status) && api.Is(q.Kind, o.Kind) && api.Is(q.Host, o.Host)
	})
}

// reads is how often decisions were asked for.
func (p *fakePlane) reads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func (p *fakePlane) Decisions(_ context.Context, q *api.Query) (api.Page[daemonapi.Decision], error) {
	p.mu.Lock()
	p.asked++
	panics, hold := p.panics, p.hold
	p.mu.Unlock()
	if hold != nil {
		p.inside.Add(1)
		<-hold
		p.inside.Add(-1)
	}
	if panics {
		panic("as the test wants it")
	}
	return some(p, &p.decisions, func(d daemonapi.Decision) bool { return (d.Resolved != nil) == q.Past })
}

func (p *fakePlane) Sessions(_ context.Context, q *api.Query) (api.Page[daemonapi.Session], error) {
	return some(p, &p.sessions, func(s daemonapi.Session) bool { return q.Allows(s.State) })
}

func (p *fakePlane) Agents(_ context.Context, q *api.Query) (api.Page[daemonapi.Agent], error) {
	return some(p, &p.agents, func(a daemonapi.Agent) bool { return q.Allows(a.Status) })
}

func (p *fakePlane) Decision(_ context.Context, id string) (daemonapi.Decision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.decisions {
		if d.ID == id {
			return d, nil
		}
	}
	return daemonapi.Decision{}, missing("no decision %s", id)
}

func (p *fakePlane) Answer(_ context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refusal != nil {
		return daemonapi.Decision{}, p.refusal
	}
	p.answers = append(p.answers, a)
	return daemonapi.Decision{ID: id}, nil
}

func (p *fakePlane) Work(_ context.Context, q *api.Query) (api.Page[daemonapi.WorkItem], error) {
	return some(p, &p.work, func(i daemonapi.WorkItem) bool { return q.Allows(i.State) })
}

func (p *fakePlane) RetryWork(_ context.Context, id string) (daemonapi.WorkItem, error) {
	return p.settleWork(id, "pending")
}

func (p *fakePlane) DropWork(_ context.Context, id string) (daemonapi.WorkItem, error) {
	return p.settleWork(id, "dropped")
}

func (p *fakePlane) settleWork(id, state string) (daemonapi.WorkItem, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.work {
		if p.work[i].ID == id {
			p.work[i].State = state
			return p.work[i], p.refusal
		}
	}
	return daemonapi.WorkItem{}, missing("no work item %s", id)
}

func (p *fakePlane) Diff(context.Context, string) (Diff, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.diff, p.noDiff
}

func (p *fakePlane) SessionAgent(_ context.Context, session string) (a daemonapi.Agent, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.agents {
		if a.Session == session {
			return a, true
		}
	}
	return a, false
}

func (p *fakePlane) SessionConversation(_ context.Context, session string, r api.Range) (daemonapi.Conversation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := daemonapi.Conversation{Session: session}
	for _, m := range p.messages {
		if r.At == 0 || m.At < r.At {
			c.Messages = append(c.Messages, m)
		}
	}
	return c, nil
}

func (p *fakePlane) SessionSpending(context.Context, string) ([]Spent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent, nil
}

func (p *fakePlane) SessionQueues(_ context.Context, q *api.Query) (api.Page[daemonapi.SessionQueue], error) {
	return some(p, &p.queues, func(s daemonapi.SessionQueue) bool { return api.Is(q.Session, s.Session) })
}

func (p *fakePlane) VerifyStore(ctx context.Context) (Soundness, error) {
	if p.verifying != nil {
		select {
		case <-p.verifying:
		case <-ctx.Done():
			return Soundness{}, ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verified++
	return p.store, p.refusal
}
