package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agentdir"
	"github.com/stopgate/stopgate/internal/atomicfile"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/cost"
	"github.com/stopgate/stopgate/internal/engine"
	"github.com/stopgate/stopgate/internal/journal"
	"github.com/stopgate/stopgate/internal/transcript"
)

// spending reads what clients spend out of their transcripts, and tells their owners.
type spending struct {
	core      *core
	stateDir  string
	configDir func(a engine.AgentStart) string // where a client keeps its transcripts, in a folder for each project
	prices    func() []config.Price

	mu     sync.Mutex
	purses map[string]*purse // by the agent's id
	news   chan struct{}
}

const (
	// countEvery is the pause between two looks at the transcripts.
	countEvery = 2 * time.Second
	// cents is how much more it costs before an owner is told: so much, or a hundredth of
	// its budget where that is less.
	cents = 0.05
)

func newSpending(core *core, stateDir string, configDir func(engine.AgentStart) string, prices func() []config.Price) *spending {
	return &spending{core: core, stateDir: stateDir, configDir: configDir, prices: prices, purses: map[string]*purse{}, news: make(chan struct{}, 1)}
}

// purse is what one agent has spent.
type purse struct {
	owner, agent string

	mu      sync.Mutex
	meter   *cost.Meter
	read    map[string]int64  // how far, by transcript
	folders map[string]string // of transcripts, by session
	kept    keptSpending
	told    engine.Spent
}

// keptSpending is what the transcripts do not say: an agent that goes on in an old session
// has not spent what is in there already, and one that began another has spent what is in
// the last.
type keptSpending struct {
	Base     engine.Spent `json:"base,omitzero"`
	Sessions []string     `json:"sessions"`
	Projects string       `json:"projects,omitempty"` // where its client keeps transcripts
}

// changed takes an owner that has changed. It does not block.
func (s *spending) changed(before, after *engine.Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := after.Agent; a != nil && a.Client && !a.Exited && s.purses[a.ID] == nil {
		s.purses[a.ID] = &purse{owner: after.ID, agent: a.ID, folders: map[string]string{}, told: after.Spent[a.ID]}
		s.look()
	}
	if after.Decision != nil && (before == nil || before.Decision == nil) { // whoever is asked wants to know
		s.look()
	}
}

// look makes the one who counts look now.
func (s *spending) look() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// run counts until the context ends.
func (s *spending) run(ctx context.Context) {
	every := time.NewTicker(countEvery)
	defer every.Stop()
	for {
		all := false
		select {
		case <-every.C:
		case <-s.news:
			all = true
		case <-ctx.Done():
			return
		}
		for _, p := range s.list() {
			s.count(ctx, p, all)
		}
	}
}

func (s *spending) list() (all []*purse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.purses {
		all = append(all, p)
	}
	return all
}

// settle tells everything that an agent has spent, which is about to be over.
func (s *spending) settle(ctx context.Context, agent string) {
	s.mu.Lock()
	p := s.purses[agent]
	s.mu.Unlock()
	if p != nil {
		s.count(ctx, p, true)
	}
}

// count reads what is new of an agent, and tells it where it matters or all is wanted. The
// purse of one that its owner has left is closed. One that is not started has spent nothing.
func (s *spending) count(ctx context.Context, p *purse, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, session := s.core.owner(p.owner), ""
	if o != nil && o.Agent != nil && o.Agent.ID == p.agent && !o.Agent.Exited {
		session = o.Agent.Session
	} else {
		all = true
		defer s.close(p)
	}
	if o == nil || p.meter == nil && (session == "" || notStarted(o)) {
		return
	}
	if err := s.take(p, o, session); err != nil {
		s.core.trouble.is("cost of agent "+p.agent, err.Error())
		return
	}
	s.core.trouble.over("cost of agent " + p.agent)
	if spent := p.spent(); worthTelling(o, p.told, spent, all) {
		in := engine.Input{ID: "spent:" + journal.NewID(), What: engine.AgentSpent{Agent: p.agent, USD: spent.USD, Tokens: spent.Tokens}}
		_, err := s.core.do(ctx, p.owner, in)
		if unlessRefused(s.core.passOver(p.owner, in, err)) == nil {
			p.told = spent
		}
	}
}

func (s *spending) close(p *purse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.purses, p.agent)
	s.core.trouble.over("cost of agent " + p.agent)
}

// spent is what the agent has spent. It never becomes less: a transcript may be deleted.
func (p *purse) spent() engine.Spent {
	t := p.meter.Total()
	return engine.Spent{
		USD:    max(t.USD-p.kept.Base.USD, p.told.USD),
		Tokens: max(t.Tokens-p.kept.Base.Tokens, p.told.Tokens),
	}
}

// worthTelling reports whether an owner has to know.
func worthTelling(o *engine.Owner, told, now engine.Spent, all bool) bool {
	more := now.USD - told.USD
	if all {
		return now != told
	}
	limit := o.Plan.Pipeline.Budget.USD
	if limit <= 0 {
		return more >= cents
	}
	total := o.Cost().USD
	limit += o.Extended.USD
	return more >= min(cents, limit/100) || total <= limit && total+more > limit
}

// take reads the agent's transcripts as far as they go.
func (s *spending) take(p *purse, o *engine.Owner, session string) error {
	if p.meter == nil {
		if err := s.open(p, o); err != nil {
			return err
		}
	}
	if session != "" && !slices.Contains(p.kept.Sessions, session) {
		p.kept.Sessions = append(p.kept.Sessions, session)
		if err := s.keep(p); err != nil {
			return err
		}
	}
	return s.readAll(p)
}

// begins puts on record, before an effect starts a client, what is spent by then in the
// session that it goes on in. Afterwards nobody could tell that from its own spending.
func (s *spending) begins(o *engine.Owner, key string) error {
	if o == nil {
		return nil
	}
	e, open := o.Effect(key)
	if !open || e.Kind != engine.StartAgent || !e.Agent.Client {
		return nil
	}
	p := &purse{owner: o.ID, agent: e.Agent.ID, folders: map[string]string{}}
	if s.recall(p) {
		return nil
	}
	return s.found(p, *e.Agent)
}

// found begins a purse.
func (s *spending) found(p *purse, a engine.AgentStart) error {
	p.meter, p.read = cost.New(s.prices()), map[string]int64{}
	p.kept = keptSpending{Sessions: []string{a.ID}} // where its client begins one
	if dir := s.configDir(a); dir != "" {
		p.kept.Projects = filepath.Join(dir, "projects")
	}
	if a.Resume != "" {
		p.kept.Sessions = append(p.kept.Sessions, a.Resume)
		if err := s.readAll(p); err != nil {
			return err
		}
		t := p.meter.Total()
		p.kept.Base = engine.Spent{USD: t.USD, Tokens: t.Tokens}
	}
	return s.keep(p)
}

// open takes up a purse where it was left. Where nothing is on record of it, it begins now.
func (s *spending) open(p *purse, o *engine.Owner) error {
	p.meter, p.read = cost.New(s.prices()), map[string]int64{}
	if s.recall(p) {
		return nil
	}
	start := *o.AgentStart()
	if o.Agent.Session != p.agent {
		start.Resume = o.Agent.Session
	}
	err := s.found(p, start)
	if err != nil {
		p.meter = nil // it is not open
	}
	return err
}

func (s *spending) readAll(p *purse) error {
	var faults []error
	for _, session := range p.kept.Sessions {
		for _, path := range s.transcripts(p, session) {
			to, err := p.meter.Read(path, p.read[path])
			p.read[path] = to
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				faults = append(faults, err)
			}
		}
	}
	return errors.Join(faults...)
}

// transcripts are those of a session: the agent's own, and those of its subagents.
func (s *spending) transcripts(p *purse, session string) []string {
	folder := s.folder(p, session)
	if folder == "" {
		return nil
	}
	all := []string{filepath.Join(folder, session+".jsonl")}
	of := filepath.Join(folder, session, "subagents")
	files, _ := os.ReadDir(of) // most have none
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".jsonl") {
			all = append(all, filepath.Join(of, f.Name()))
		}
	}
	return all
}

// folder is where a session's transcript lies. It is empty as long as there is none.
func (s *spending) folder(p *purse, session string) string {
	if p.folders[session] == "" {
		path, _ := transcript.Find(p.kept.Projects, lastOf(s.stateDir, p.agent).Transcript, session) // looked for again
		if path == "" {
			return ""
		}
		p.folders[session] = filepath.Dir(path)
	}
	return p.folders[session]
}

// recall reports whether something is on record of the agent's spending.
func (s *spending) recall(p *purse) bool {
	path, err := s.path(p.agent)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(path)
	var kept keptSpending
	if err != nil || json.Unmarshal(text, &kept) != nil || len(kept.Sessions) == 0 {
		return false
	}
	p.kept = kept
	return true
}

func (s *spending) keep(p *purse) error {
	path, err := s.path(p.agent)
	if err != nil {
		return err
	}
	text, err := json.Marshal(p.kept)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}

func (s *spending) path(agent string) (string, error) {
	dir, err := agentdir.At(s.stateDir, agent)
	return dir.Path("spent.json"), err
}
