package daemon

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/cost"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/web"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/project/config"
)

// SessionAgent implements web.Plane. The agents of now are found by their sessions; for those of before it
// looks at all owners now and then, which may be many: most sessions are those of people.
func (p *plane) SessionAgent(_ context.Context, session string) (a daemonapi.Agent, found bool) {
	if session == "" {
		return a, false
	}
	var o *engine.Owner
	p.core.look(func(s *engine.State) { o = s.OwnerOf(session) })
	if o != nil && o.Agent.Session == session {
		p.meters.owned.put(session, o.ID, p.opts.Now()) // it may end at any time
		return p.around(agentView(o), true), true
	}
	id, known := p.meters.owned.get(session, p.opts.Now())
	if !known {
		id = p.pastOwner(session)
		p.meters.owned.put(session, id, p.opts.Now())
	}
	if o = p.core.owner(id); o == nil {
		return a, false
	}
	v := visitOf(o, session)
	if v == nil {
		return a, false
	}
	return p.around(pastView(o, *v), true), true
}

// pastOwner is the id of the newest owner that had an agent in a session, "" where there is none.
func (p *plane) pastOwner(session string) string {
	for _, o := range p.core.owners() {
		if visitOf(o, session) != nil {
			return o.ID
		}
	}
	return ""
}

// visitOf is the last visit of an owner to a step whose agent was in a session.
func visitOf(o *engine.Owner, session string) *engine.Visit {
	for i := range slices.Backward(o.History) {
		if v := &o.History[i]; v.AgentID != "" && cmp.Or(v.Session, v.AgentID) == session {
			return v
		}
	}
	return nil
}

// sessionTranscript is where a session's conversation is, "" where that is not known. It is looked for now
// and then: that takes a look at all owners and into every project.
func (p *plane) sessionTranscript(ctx context.Context, session string) string {
	if path, ok := p.meters.paths.get(session, p.opts.Now()); ok {
		return path
	}
	path := ""
	if a, found := p.SessionAgent(ctx, session); found {
		path = a.Transcript
	}
	if path == "" {
		path, _ = transcript.Find(transcript.Projects(p.opts.configDir(engine.AgentStart{})), "", session)
	}
	p.meters.paths.put(session, path, p.opts.Now())
	return path
}

// SessionConversation implements web.Plane.
func (p *plane) SessionConversation(ctx context.Context, session string, r api.Range) (daemonapi.Conversation, error) {
	return readConversation(session, p.sessionTranscript(ctx, session), r)
}

// SessionSpending implements web.Plane.
func (p *plane) SessionSpending(ctx context.Context, session string) ([]web.Spent, error) {
	path := p.sessionTranscript(ctx, session)
	if path == "" {
		return nil, nil
	}
	return p.meters.read(path, session, p.prices)
}

const (
	// mostMeters are the sessions whose spending is kept, so that only what is new is read.
	mostMeters = 32
	// mostPoints are the points of one session's spending.
	mostPoints = 400
	// knownFor is how long the place of a transcript, and the owner of a session, are not looked for again.
	knownFor = 5 * time.Second
	// mostMetered is how much of a transcript is read, from its end.
	mostMetered = 64 << 20
)

// meters count what sessions spend that people look at.
type meters struct {
	mu    sync.Mutex
	all   map[string]*sessionMeter // by transcript
	paths recent                   // of transcripts, by session
	owned recent                   // the ids of the owners that had an agent in a session, by session
}

// recent keeps what was found a moment ago, by session; "" where nothing was.
type recent struct {
	mu  sync.Mutex
	all map[string]found
}

type found struct {
	what   string
	looked time.Time
}

func (r *recent) get(session string, now time.Time) (what string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok := r.all[session]
	return f.what, ok && now.Sub(f.looked).Abs() < knownFor
}

func (r *recent) put(session, what string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || len(r.all) >= mostMeters {
		r.all = map[string]found{}
	}
	r.all[session] = found{what, now}
}

// sessionMeter counts what one session spends.
type sessionMeter struct {
	mu     sync.Mutex
	meter  *cost.Meter
	files  map[string]*transcript.Follower
	points []web.Spent // what each message has cost, of every file in its order
}

func (m *meters) read(path, session string, prices func() []config.Price) ([]web.Spent, error) {
	m.mu.Lock()
	one := m.all[path]
	if one == nil {
		if m.all == nil || len(m.all) >= mostMeters {
			m.all = map[string]*sessionMeter{}
		}
		var own []config.Price
		if prices != nil {
			own = prices()
		}
		one = &sessionMeter{meter: cost.New(own), files: map[string]*transcript.Follower{}}
		m.all[path] = one
	}
	m.mu.Unlock()
	return one.read(path, session)
}

// read takes in what is new of a session and of its subagents.
func (s *sessionMeter) read(path, session string) ([]web.Spent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, file := range transcripts(filepath.Dir(path), session) {
		if s.files[file] == nil {
			s.files[file] = transcript.FollowFrom(file, max(0, sizeOf(file)-mostMetered))
		}
		if err := s.files[file].Next(s.line); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, api.Refusal("unavailable", err.Error(), "")
		}
	}
	return added(s.points), nil
}

// added are costs in the order of time, each with those before it.
func added(points []web.Spent) []web.Spent {
	all := slices.Clone(points)
	slices.SortStableFunc(all, func(a, b web.Spent) int { return a.Time.Compare(b.Time) })
	for i := 1; i < len(all); i++ {
		all[i].USD += all[i-1].USD
		all[i].Tokens += all[i-1].Tokens
	}
	return all
}

func sizeOf(path string) int64 {
	file, err := transcript.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

func (s *sessionMeter) line(line []byte) {
	u, ok := transcript.UsageOf(line)
	if !ok {
		return
	}
	before := s.meter.Total()
	s.meter.Add(u)
	now := s.meter.Total()
	if now == before || u.Time.IsZero() {
		return
	}
	if len(s.points) == mostPoints {
		s.halve()
	}
	s.points = append(s.points, web.Spent{Time: u.Time, USD: now.USD - before.USD, Tokens: now.Tokens - before.Tokens})
}

// halve makes one point of two.
func (s *sessionMeter) halve() {
	for i := range len(s.points) / 2 {
		one, two := s.points[2*i], s.points[2*i+1]
		s.points[i] = web.Spent{Time: two.Time, USD: one.USD + two.USD, Tokens: one.Tokens + two.Tokens}
	}
	s.points = s.points[:len(s.points)/2]
}
