package daemon

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/control/cost"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
)

// purse is what one agent has spent.
type purse struct {
	owner, agent string

	mu       sync.Mutex
	meter    *cost.Meter // nil until it is opened
	files    map[string]*transcript.Follower
	folders  map[string]folder // by session
	kept     keptSpending
	recorded engine.Spent
	left     time.Time // when it was seen that its owner has left it
	closed   bool
}

// folder is where a session's transcripts lie.
type folder struct {
	path   string    // empty as long as there is none
	looked time.Time // for it
	err    error     // why nobody can tell
}

// lookAgain is after how long a transcript is looked for again that nobody writes now. That
// takes a look into every project.
const lookAgain = 30 * time.Second

// keptSpending is what the transcripts do not say: an agent that goes on in an old session
// has not spent what is in there already, and one that began another has spent what is in
// the last.
type keptSpending struct {
	Base     engine.Spent `json:"base,omitzero"`
	Sessions []string     `json:"sessions"`
	Projects string       `json:"projects,omitempty"` // where its client keeps transcripts
}

func newPurse(owner, agent string, recorded engine.Spent) *purse {
	return &purse{owner: owner, agent: agent, recorded: recorded, files: map[string]*transcript.Follower{}, folders: map[string]folder{}}
}

// spent is what the agent has spent. It never becomes less: a transcript may be deleted.
func (p *purse) spent() engine.Spent {
	t := p.meter.Total()
	return engine.Spent{
		USD:    max(t.USD-p.kept.Base.USD, p.recorded.USD),
		Tokens: max(t.Tokens-p.kept.Base.Tokens, p.recorded.Tokens),
	}
}

// take reads the agent's transcripts as far as they go; all of them, or those that are
// likely to have grown. The purse of one that its owner has left stays closed where nothing
// is on record of it.
func (s *spending) take(p *purse, o *engine.Owner, left, all bool) error {
	if p.meter == nil {
		if err := s.open(p, o, left); err != nil || p.meter == nil {
			return err
		}
	}
	session := ""
	if !left {
		session = o.Agent.Session
	}
	if session != "" && !slices.Contains(p.kept.Sessions, session) {
		p.kept.Sessions = append(p.kept.Sessions, session)
		if err := s.keep(p); err != nil {
			p.kept.Sessions = p.kept.Sessions[:len(p.kept.Sessions)-1] // to be kept the next time
			return err
		}
	}
	return s.readAll(p, func(other string) bool { return all || other == session })
}

// open takes up a purse where it was left. Where nothing is on record of it, it begins now;
// an agent that is gone has spent nothing then.
func (s *spending) open(p *purse, o *engine.Owner, left bool) error {
	if s.recall(p) {
		p.meter = cost.New(s.prices())
		return nil
	}
	if left {
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

// found begins a purse. What cannot be read of the session that the agent goes on in is no
// reason not to: it counts as the agent's own.
func (s *spending) found(p *purse, a engine.AgentStart) error {
	p.meter = cost.New(s.prices())
	p.kept = keptSpending{Sessions: []string{a.ID}} // where its client begins one
	if dir := s.configDir(a); dir != "" {
		p.kept.Projects = transcript.Projects(dir)
	}
	if a.Resume != "" {
		p.kept.Sessions = append(p.kept.Sessions, a.Resume)
		if err := s.readAll(p, func(string) bool { return true }); err != nil {
			s.core.log.Warn("the cost of an earlier conversation may be counted twice", "agent", p.agent, "error", err)
			s.fault(p, err)
		}
		p.kept.Base = engine.Spent(p.meter.Total())
	}
	return s.keep(p)
}

// readAll reads what is new in the agent's transcripts. Where those of a session are is
// looked for now if that is wanted, else now and then.
func (s *spending) readAll(p *purse, look func(session string) bool) error {
	var faults []error
	for _, session := range p.kept.Sessions {
		folder := s.folder(p, session, look(session))
		if folder.err != nil {
			faults = append(faults, folder.err)
		}
		for _, path := range transcripts(folder.path, session) {
			if p.files[path] == nil {
				p.files[path] = &transcript.Follower{Path: path}
			}
			if err := p.files[path].Next(p.meter.Line); err != nil && !errors.Is(err, fs.ErrNotExist) {
				faults = append(faults, err)
			}
		}
	}
	return errors.Join(faults...)
}

// transcripts are those of a session: the agent's own, and those of its subagents.
func transcripts(folder, session string) []string {
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

// folder is where a session's transcripts lie. A client that goes on in an old session never
// writes one under its own id.
func (s *spending) folder(p *purse, session string, look bool) folder {
	known, now := p.folders[session], s.core.now()
	if known.path != "" || !look && !known.looked.IsZero() && now.Sub(known.looked) < lookAgain {
		return known
	}
	path, err := transcript.Find(p.kept.Projects, lastOf(s.stateDir, p.agent).Transcript, session)
	known = folder{looked: now, err: err}
	if path != "" {
		known.path = filepath.Dir(path)
	}
	p.folders[session] = known
	return known
}

// recall reports whether something is on record of the agent's spending.
func (s *spending) recall(p *purse) bool {
	kept, ok := keptOf(s.stateDir, p.agent)
	if ok {
		p.kept = kept
	}
	return ok
}

// keptOf is what is on record of an agent's spending.
func keptOf(stateDir, agent string) (kept keptSpending, ok bool) {
	path, err := keptPath(stateDir, agent)
	if err != nil {
		return keptSpending{}, false
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &kept) != nil || len(kept.Sessions) == 0 {
		return keptSpending{}, false
	}
	return kept, true
}

func (s *spending) keep(p *purse) error {
	path, err := keptPath(s.stateDir, p.agent)
	if err != nil {
		return err
	}
	text, err := json.Marshal(p.kept)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600)
}

func keptPath(stateDir, agent string) (string, error) {
	dir, err := agentdir.At(stateDir, agent)
	return dir.Path("spent.json"), err
}
