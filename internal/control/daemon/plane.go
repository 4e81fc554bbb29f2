package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/agent"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/fleet/desk"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/program"
)

// plane is the daemon as the API sees it.
type plane struct {
	opts    Options
	core    *core
	ingest  *ingest
	growth  *growth
	waiters *waiters
	queued  func(agent string) bool // it waits for room
	started time.Time
	pid     int
	prune   func(ctx context.Context, p daemonapi.Prune) (daemonapi.Pruned, error)
	stop    func(ctx context.Context, kill bool) error
	clerk   *clerk
	abandon func(ctx context.Context, id string) (*engine.Owner, error)
	kept    func() time.Duration // how long what has ended is kept
	global  func() *config.Global
	ui      func(ctx context.Context, c daemonapi.UIControl) (daemonapi.UI, error)
	seen    func() ([]daemonapi.Seen, error) // all sessions
	metrics http.Handler
	prices  func() []config.Price // besides those that are built in; nil is none
	meters  meters

	api.JobPlane            // of the fleet
	desk         *desk.Desk // nil where there is none
}

var _ api.Plane = (*plane)(nil)

func (p *plane) Version() daemonapi.Version {
	return daemonapi.Version{Version: p.opts.Version, Commit: program.Commit(), API: 1, PID: p.pid, Started: p.started}
}

// Fleet is none: the daemon's part in one knows of it.
func (p *plane) Fleet(context.Context) daemonapi.Fleet { return daemonapi.Fleet{} }

func (p *plane) Status(context.Context) daemonapi.Status {
	s := daemonapi.Status{Version: p.Version(), Store: p.opts.database(), Trouble: p.core.trouble.list()}
	if free, err := room(p.opts.StateDir); err == nil && free < scarce {
		s.Trouble = append(s.Trouble, fmt.Sprintf("the disk is full: %d KiB left for %s", free>>10, p.opts.StateDir))
	}

	p.countEnded(&s)
	for _, o := range append(p.core.live(), p.core.unknown()...) {
		counts := countsOf(&s, o.Kind)
		if p.core.heldFor(o.ID) != "" {
			counts.Held++
			continue
		}

		if o.Parent == nil { // it counts its children
			count(counts, status(o), 1)
		}
		switch {
		case !alive(o):
		case p.queued(o.Agent.ID):
			s.Queued++
		default:
			s.Agents++
		}
		if o.Decision != nil {
			s.Decisions++
		}
	}

	for range p.jobQuestions(&api.Query{}) {
		s.Decisions++
	}
	if p.clerk != nil {
		if count := p.clerk.count.Load(); count != nil && count.Count > 0 {
			s.Schedules = count
		}
	}

	p.core.mu.RLock()
	defer p.core.mu.RUnlock()
	s.Events = uint64(p.core.last)
	return s
}

// countEnded counts those that are at their end: there are many of them. Those that are held count as
// that.
func (p *plane) countEnded(s *daemonapi.Status) {
	p.core.look(func(state *engine.State) {
		for end, n := range state.Ends() {
			count(countsOf(s, end.Kind), end.Step, n)
		}
		for subject := range state.Held {
			id, _ := ownerOf(subject)
			if o := state.Owner(id); o != nil && o.Terminal() && engine.Subject(o.Kind, o.ID) == subject {
				countsOf(s, o.Kind).Held++
				if o.Parent == nil {
					count(countsOf(s, o.Kind), o.Step, -1)
				}
			}
		}
	})
}

func countsOf(s *daemonapi.Status, kind engine.Kind) *daemonapi.Counts {
	if kind == engine.AgentRun {
		return &s.Runs
	}
	return &s.Pipelines
}

// scarce is so little room on the disk that what waits may wait for more: commands that
// have ended and cannot say so, which nobody else knows of.
const scarce = 1 << 20

func alive(o *engine.Owner) bool { return o.Agent != nil && !o.Agent.Exited && !o.Terminal() }

func (p *plane) Owner(_ context.Context, id string) (daemonapi.Owner, error) {
	o, err := p.resolve(id)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	return p.ownerView(o, true), nil
}

// ownerView is an owner with what is not in its record: see around.
func (p *plane) ownerView(o *engine.Owner, whole bool) daemonapi.Owner {
	view := ownerView(o, whole)
	if view.Held = p.core.heldFor(o.ID); view.Held != "" {
		view.Status = "held"
	}
	if o.Status == engine.Queued {
		p.core.look(func(s *engine.State) {
			view.WaitsFor = &daemonapi.Room{Group: o.Turn.Group, Limit: o.Turn.Limit, Inside: s.Inside(o)}
		})
		view.Reason = view.WaitsFor.String()
	}

	if view.Agent != nil {
		*view.Agent = p.around(*view.Agent, whole)
	}
	if view.Decision != nil {
		*view.Decision = p.ofJob(o, *view.Decision)
	}
	if whole && o.Offspring != nil {
		p.core.look(func(s *engine.State) { view.Children = childViews(o, s.Children(o.ID)) })
	}
	return view
}

// around adds to an agent what is known of it besides its owner's record. For the whole of
// it one may look longer than for one of many.
func (p *plane) around(a daemonapi.Agent, whole bool) daemonapi.Agent {
	a = p.withPlace(a)
	if !a.ClaudeCode {
		return a
	}
	runs := a.Status != "queued" && a.Status != "exited"
	a.Transcript = p.transcript(a, whole, runs)
	if runs {
		a.Terminal = &daemonapi.Terminal{Socket: agent.Socket(p.opts.StateDir), Session: agent.Session(a.Name, a.ID)}
	}
	return a
}

// withPlace says of an agent that waits for room that it does.
func (p *plane) withPlace(a daemonapi.Agent) daemonapi.Agent {
	if a.Status != "exited" && p.queued(a.ID) {
		a.Status = "queued"
	}
	return a
}

// transcript is where an agent's conversation is. Its client names that when it stops; until
// then, and where it is in another session since, it is looked for.
func (p *plane) transcript(a daemonapi.Agent, whole, runs bool) string {
	last, projects := lastOf(p.opts.StateDir, a.ID).Transcript, ""
	if whole || runs && last == "" {
		kept, _ := keptOf(p.opts.StateDir, a.ID)
		projects = cmp.Or(kept.Projects, transcript.Projects(p.opts.configDir(engine.AgentStart{})))
	}
	path, _ := transcript.Find(projects, last, a.Session) // what it named last has to do
	return cmp.Or(path, last)
}

func (p *plane) Cancel(ctx context.Context, id string, c daemonapi.Cancel) (daemonapi.Owner, error) {
	if c.GiveUp {
		return p.giveUp(ctx, id)
	}
	return p.request(ctx, id, c.ID, engine.Cancel{Why: "requested by " + api.CallerOf(ctx).String()})
}

// giveUp forgets an owner that is held.
func (p *plane) giveUp(ctx context.Context, id string) (daemonapi.Owner, error) {
	o, err := p.resolve(id)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	view := p.ownerView(o, false)
	_, err = p.abandon(context.WithoutCancel(ctx), o.ID)
	return view, asFailure(err)
}

func (p *plane) Resume(ctx context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error) {
	o, err := p.resolve(id)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	if item := p.triedAgain(o.ID); item != "" {
		return daemonapi.Owner{}, api.Refusal("conflict", "its queue will retry item "+item+" in a new pipeline", "to do that now: stopgate work retry "+item)
	}
	return p.request(ctx, o.ID, r.ID, engine.Resume{Message: r.Message, Vars: r.Vars})
}

func (p *plane) Log(ctx context.Context, id string, q api.LogQuery, to io.Writer) error {
	o, err := p.resolve(id)
	if err != nil {
		return err
	}

	over := func() bool {
		now := p.core.owner(o.ID)
		return now == nil || now.Terminal() && len(now.Effects) == 0 || p.core.heldFor(o.ID) != ""
	}

	log, size, err := openLog(logPath(p.opts.StateDir, o.ID), q)
	if err != nil {
		return err
	}
	q.Begin(log.from, size)

	if q.Step != "" {
		// A tail begins with a line of the step, which may have no label of its own.
		to = &stepWriter{to: to, filter: stepFilter{step: q.Step, last: q.Tail > 0 && log.from > 0}}
	}
	if q.Follow {
		defer p.growth.follow()()
	}
	return copyLog(ctx, log, q.Follow, over, p.core.news.Rung, p.growth.news.Rung, to)
}

func (p *plane) Agent(_ context.Context, id string) (daemonapi.Agent, error) {
	var o *engine.Owner
	p.core.look(func(s *engine.State) { o = s.OwnerOf(id) })
	if o != nil && o.Agent != nil {
		return p.around(agentView(o), true), nil
	}
	past, err := p.pastAgent(id)
	if err != nil {
		return daemonapi.Agent{}, err
	}
	return p.around(past, true), nil
}

// pastAgent finds an agent by the beginning of its id, also one that was left, in what
// owners remember of their steps. For one that was started again stands the one that was.
func (p *plane) pastAgent(id string) (daemonapi.Agent, error) {
	found := map[string]daemonapi.Agent{}
	begins := func(whole string) bool { return strings.HasPrefix(whole, id) }
	for _, o := range p.core.owners() {
		if id != "" && o.Agent != nil && slices.ContainsFunc(o.Agent.Before, begins) {
			found[o.Agent.ID] = agentView(o)
		}
		for _, v := range o.History {
			switch {
			case id == "" || !begins(v.AgentID):
			case o.Agent != nil && o.Agent.ID == v.AgentID:
				found[v.AgentID] = agentView(o)
			default:
				found[v.AgentID] = pastView(o, v)
			}
		}
	}

	if exact, is := found[id]; is {
		return exact, nil
	}

	var lines []string
	for _, one := range found {
		if len(found) == 1 {
			return one, nil
		}
		lines = append(lines, one.Line())
	}
	if len(lines) == 0 {
		return daemonapi.Agent{}, api.Refusal("not_found", "there is no agent "+id, "stopgate agent list --all")
	}
	return daemonapi.Agent{}, api.Ambiguous(id, lines)
}

func (p *plane) Signal(ctx context.Context, agent string, through journal.Position) (daemonapi.Signal, error) {
	if err := p.ingest.through(ctx, through); err != nil {
		return daemonapi.Signal{}, err
	}
	var answer daemonapi.Signal
	p.core.look(func(s *engine.State) {
		signal, given := s.Signal(agent)
		answer = daemonapi.Signal{Signaled: given, Kind: signal.Kind, Message: signal.Message}
	})
	return answer, nil
}

func (p *plane) Decision(ctx context.Context, id string) (daemonapi.Decision, error) {
	if q, ours := p.jobQuestion(id); ours {
		return q, nil
	}
	o, d, err := p.decision(id)
	if err != nil {
		return daemonapi.Decision{}, err
	}
	view := p.ofJob(o, decisionView(o, d))
	if d.Resolved.IsZero() {
		view.Details = p.details(ctx, o, d)
	}
	return view, nil
}

func (p *plane) decision(id string) (o *engine.Owner, d engine.Decision, err error) {
	p.core.look(func(s *engine.State) { o, d, err = s.ResolveDecision(id) })
	if err = asFailure(err); isConflict(err) {
		err = api.Ambiguous(id, p.decisionsLike(id))
	}
	return o, d, err
}

func (p *plane) Answer(ctx context.Context, id string, a daemonapi.Answer) (daemonapi.Decision, error) {
	if q, ours := p.jobQuestion(id); ours {
		return p.desk.Answer(ctx, q.ID, a)
	}
	o, d, err := p.decision(id)
	if err != nil {
		return daemonapi.Decision{}, err
	}
	answer := engine.Answer{Decision: d.ID, Option: a.Option, Message: a.Message, Answers: a.Answers}
	if err := p.heeded(ctx, d, answer); err != nil {
		return daemonapi.Decision{}, err
	}
	if _, err := p.request(ctx, o.ID, a.ID, answer); err != nil {
		return daemonapi.Decision{}, err
	}
	return p.Decision(ctx, d.ID)
}

// jobQuestion is a decision about a job of the fleet, by its id or the beginning of it. One of this machine's own has
// precedence.
func (p *plane) jobQuestion(id string) (daemonapi.Decision, bool) {
	if p.desk == nil {
		return daemonapi.Decision{}, false
	}
	if _, _, err := p.decision(id); daemonapi.Code(err) != "not_found" {
		return daemonapi.Decision{}, false
	}
	return p.desk.Question(id)
}

// backuper is a store that can be copied while it is in use.
type backuper interface {
	Backup(ctx context.Context, path string) error
}

func (p *plane) Backup(ctx context.Context, path string) error {
	b, ok := p.core.store.(backuper)
	if !ok {
		return api.Refusal("invalid", "this store does not support backups", "")
	}
	if !filepath.IsAbs(path) {
		return invalid("path %q is not absolute", path)
	}
	if err := b.Backup(ctx, path); err != nil {
		if where, ok := errors.AsType[*fs.PathError](err); ok { // of a file that was to become the backup
			err = fmt.Errorf("%s: %w", path, where.Err)
		}
		return api.Refusal("invalid", err.Error(), "")
	}
	return nil
}

// Prune is not ended by one who does not wait for it: what is begun is told in one piece.
func (p *plane) Prune(ctx context.Context, what daemonapi.Prune) (daemonapi.Pruned, error) {
	pruned, err := p.prune(context.WithoutCancel(ctx), what)
	return pruned, asFailure(err)
}

func (p *plane) Stop(ctx context.Context, kill bool) error { return p.stop(ctx, kill) }

func (p *plane) resolve(id string) (o *engine.Owner, err error) {
	p.core.look(func(s *engine.State) { o, err = s.Resolve(id) })
	if err = asFailure(err); isConflict(err) {
		return o, api.Ambiguous(id, p.ownersLike(id))
	}
	if err != nil {
		for _, held := range p.core.unknown() {
			if id != "" && strings.HasPrefix(held.ID, id) {
				return held, nil
			}
		}
	}
	return o, err
}

// request hands an owner what a person asked for.
func (p *plane) request(ctx context.Context, owner, request string, what engine.Happening) (daemonapi.Owner, error) {
	o, err := p.resolve(owner)
	if err != nil {
		return daemonapi.Owner{}, err
	}
	if request == "" {
		request = journal.NewID()
	}
	return p.do(ctx, o.ID, engine.Input{ID: "request:" + request, What: what})
}

func (p *plane) do(ctx context.Context, owner string, in engine.Input) (daemonapi.Owner, error) {
	o, err := p.core.do(ctx, owner, in)
	if err != nil {
		return daemonapi.Owner{}, asFailure(err)
	}
	p.core.parentsHear(ctx, o)
	return p.ownerView(o, true), nil
}

// asFailure is an error as people are told of it: what the engine refuses has a code, and
// a store that cannot be written to is a matter of trying again.
func asFailure(err error) error {
	var refusal *engine.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		return api.Refusal(refusal.Code, refusal.Why, "")
	case errors.Is(err, store.ErrInvalid):
		return api.Refusal("invalid", err.Error(), "")
	case errors.Is(err, errEngine):
		return err
	}
	return api.Refusal("unavailable", err.Error(), "it is not known yet whether something has changed: ask again")
}
