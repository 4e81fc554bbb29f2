package fleet

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/link/linktest"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/fleet/view"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var noon = time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)

// machine is a machine of a fleet in a test: its plane is a list of owners.
type machine struct {
	*Fleet
	*Plane
	own  *ownPlane
	stop func()
}

// ownPlane is what one machine has. What is not here is not asked for.
type ownPlane struct {
	api.Plane
	mu     sync.Mutex
	owners map[string]daemonapi.Owner
	did    []string // what was asked for, with who asked
	log    string
	jobs   []daemonapi.Job
}

// world is a fleet of a test.
type world struct {
	t     *testing.T
	fleet *linktest.Fleet
	allow map[string][]config.FleetAllow

	mu    sync.Mutex
	users map[string]string // by machine; those that run read it
}

func newWorld(t *testing.T) *world {
	return &world{t: t, fleet: linktest.New(t), users: map[string]string{}, allow: map[string][]config.FleetAllow{}}
}

// belongs says whose machine it is, before it is started or as it is.
func (w *world) belongs(name, user string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users[name] = user
}

// members are the machines and their users.
func (w *world) members() (all []member.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, user := range w.users {
		all = append(all, member.Record{Name: name, User: user})
	}
	return all
}

// machine starts a machine of a user, which has these owners.
func (w *world) machine(name, user string, owners ...daemonapi.Owner) *machine {
	w.belongs(name, user)
	own := &ownPlane{owners: map[string]daemonapi.Owner{}}
	for _, o := range owners {
		own.owners[o.ID] = o
	}
	f := New(w.options(name, own))
	f.Dial = func(ctx context.Context) (*link.Link, error) {
		nc, err := nats.Connect(w.fleet.Server.ClientURL(), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond),
			nats.ReconnectBufSize(-1), nats.CustomInboxPrefix(link.Inbox(name)))
		if err != nil {
			return nil, err
		}
		return link.Open(ctx, nc, linktest.Name, name)
	}
	return &machine{f, f.Merged(), own, w.run(f)}
}

func (w *world) options(name string, own *ownPlane) Options {
	return Options{
		Version: "v1", Plane: own, Handler: api.New(own, "v1"), Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Config:  func() *config.Global { return &config.Global{Fleet: config.Fleet{Allow: w.allow[name]}} },
		Changed: func() {}, Trouble: func() error { return nil },
		Self:    func() (string, string) { return linktest.Name, name },
		Members: func(context.Context, *link.Link) ([]member.Record, error) { return w.members(), nil },
	}
}

// run runs a machine until it is stopped, or the test ends.
func (w *world) run(f *Fleet) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); f.Run(ctx) }()
	stop = func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return stop
}

// sees waits until a machine shows so many owners of all.
func (w *world) sees(m *machine, n int) {
	w.t.Helper()
	checktest.Eventually(w.t, fmt.Sprintf("%d owners are shown", n), func() bool { return len(m.list(w.t, &api.Query{})) == n })
}

// hears waits until the machines hear each other.
func (w *world) hears(m *machine, others ...string) {
	w.t.Helper()
	for _, other := range others {
		checktest.Eventually(w.t, other+" is up", func() bool { o := m.Observer(); return o != nil && o.State(other) == "up" })
	}
}

// list is all that a query asks for, page by page.
func (m *machine) list(t *testing.T, q *api.Query) (all []daemonapi.Owner) {
	t.Helper()
	q = &api.Query{Kind: q.Kind, Host: q.Host, Status: q.Status, Limit: cmp.Or(q.Limit, 50), Parent: api.AnyParent}
	for {
		page, err := m.Owners(t.Context(), q)
		check(t, err)
		all = append(all, page.Items...)
		if q.After = page.Next; page.Next == (api.Place{}) {
			return all
		}
	}
}

// owner is a pipeline that runs, with an agent and a decision.
func owner(id int) daemonapi.Owner {
	whole := fmt.Sprintf("%016x", id)
	at := noon.Add(time.Duration(id%1000) * time.Second)
	return daemonapi.Owner{
		ID: whole, Kind: "pipeline", Name: "build", Status: "waiting", Step: "ask", Created: at, Updated: at, Vars: map[string]string{"secret": "hunter2"},
		Agent:    &daemonapi.Agent{ID: fmt.Sprintf("a%015x", id), Owner: whole, Name: "worker", Status: "waiting", Started: at},
		Decision: &daemonapi.Decision{ID: fmt.Sprintf("d%015x", id), Owner: whole, Name: "build", Source: "question", Context: "Really?", Created: at},
	}
}

func (p *ownPlane) note(ctx context.Context, format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.did = append(p.did, fmt.Sprintf(format, args...)+" by "+api.CallerOf(ctx).String())
}

func (p *ownPlane) done() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.did)
}

func (p *ownPlane) put(o daemonapi.Owner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners[o.ID] = o
}

func (p *ownPlane) Owners(_ context.Context, q *api.Query) (api.Page[daemonapi.Owner], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return api.PageOf(func(yield func(daemonapi.Owner) bool) {
		for _, o := range p.owners {
			if wantsOwner(q, &o) && !yield(o) {
				return
			}
		}
	}, func(o daemonapi.Owner) api.Place { return api.PlaceOf(o.Created, o.ID) }, q), nil
}

// find finds what is in an owner by the beginning of its id.
func (p *ownPlane) find(id string, of func(*daemonapi.Owner) string) (daemonapi.Owner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []daemonapi.Owner
	for _, o := range p.owners {
		if strings.HasPrefix(of(&o), id) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return daemonapi.Owner{}, api.Refusal("not_found", "there is no "+id, "")
	case 1:
		return found[0], nil
	}
	return daemonapi.Owner{}, api.Refusal("conflict", id+" is ambiguous", "  one\n  two")
}

func (p *ownPlane) Owner(_ context.Context, id string) (daemonapi.Owner, error) {
	return p.find(id, owners.of)
}

func (p *ownPlane) Agent(_ context.Context, id string) (daemonapi.Agent, error) {
	o, err := p.find(id, agents.of)
	if err != nil {
		return daemonapi.Agent{}, err
	}
	return *o.Agent, nil
}

func (p *ownPlane) Decision(_ context.Context, id string) (daemonapi.Decision, error) {
	o, err := p.find(id, decisions.of)
	if err != nil {
		return daemonapi.Decision{}, err
	}
	d := *o.Decision
	d.Details = &daemonapi.Details{LastMessage: "the whole of it"}
	return d, nil
}

func (p *ownPlane) Agents(_ context.Context, q *api.Query) (page api.Page[daemonapi.Agent], err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.owners {
		page.Items = append(page.Items, *o.Agent)
	}
	return api.PageOf(slices.Values(page.Items), func(a daemonapi.Agent) api.Place { return api.Place{Time: a.Started, ID: a.ID} }, q), nil
}

func (p *ownPlane) Decisions(_ context.Context, q *api.Query) (page api.Page[daemonapi.Decision], err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.owners {
		page.Items = append(page.Items, *o.Decision)
	}
	return api.PageOf(slices.Values(page.Items), func(d daemonapi.Decision) api.Place { return api.Place{Time: d.Created, ID: d.ID} }, q), nil
}

func (p *ownPlane) Answer(ctx context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error) {
	p.note(ctx, "answer %s %s", id, a.Option)
	return p.Decision(ctx, id)
}

func (p *ownPlane) Cancel(ctx context.Context, id string, _ daemonapi.Cancel) (daemonapi.Owner, error) {
	p.note(ctx, "cancel %s", id)
	return p.Owner(ctx, id)
}

func (p *ownPlane) Resume(ctx context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error) {
	p.note(ctx, "resume %s %s", id, r.Message)
	return p.Owner(ctx, id)
}

func (p *ownPlane) Send(ctx context.Context, id string, s daemonapi.Send) (daemonapi.Agent, error) {
	p.note(ctx, "send %s %s", id, s.Message)
	return p.Agent(ctx, id)
}

func (p *ownPlane) Kill(ctx context.Context, id string, _ daemonapi.Kill) (daemonapi.Agent, error) {
	p.note(ctx, "kill %s", id)
	return p.Agent(ctx, id)
}

func (p *ownPlane) Start(ctx context.Context, s daemonapi.Start) (daemonapi.Owner, error) {
	p.note(ctx, "start %s in %s", s.Command, s.ProjectName)
	return owner(77), nil
}

func (p *ownPlane) Graph(context.Context, string) (daemonapi.Graph, error) {
	return daemonapi.Graph{Name: "drawn there"}, nil
}

func (p *ownPlane) Picture(context.Context, string) ([]byte, error) { return []byte("<svg/>"), nil }

func (p *ownPlane) Screen(_ context.Context, _ string, ansi bool) (daemonapi.Screen, error) {
	return daemonapi.Screen{Text: fmt.Sprint("a screen, ", ansi)}, nil
}

func (p *ownPlane) Conversation(_ context.Context, _ string, r api.Range) (daemonapi.Conversation, error) {
	return daemonapi.Conversation{Session: fmt.Sprintf("%d %v %d", r.At, r.Before, r.Limit)}, nil
}

func (p *ownPlane) Log(_ context.Context, _ string, q api.LogQuery, to io.Writer) error {
	from, end := int(q.Offset), len(p.log)
	if q.Limit > 0 {
		end = min(end, from+int(q.Limit))
	}
	if q.Tail > 0 {
		from = len(p.log) - q.Tail
	}
	from = min(from, end)
	q.Begin(int64(from), int64(len(p.log)))
	_, err := io.WriteString(to, p.log[from:end])
	return err
}

func (p *ownPlane) Jobs(context.Context, *api.Query) (api.Page[daemonapi.Job], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return api.Page[daemonapi.Job]{Items: slices.Clone(p.jobs)}, nil
}

func (p *ownPlane) Job(_ context.Context, id string) (daemonapi.Job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.jobs {
		if j.ID == id {
			return j, nil
		}
	}
	return daemonapi.Job{}, api.Refusal("not_found", "there is no "+id, "")
}

func encoded(t testing.TB, o daemonapi.Owner) []byte {
	t.Helper()
	text, err := view.Encode(o, true)
	check(t, err)
	return text
}
