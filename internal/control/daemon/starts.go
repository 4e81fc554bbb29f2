package daemon

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// starts watches clients until they work on what they were started with. One of which no hook is
// heard asks something of a person before it runs any: whether the directory is to be trusted,
// who pays. Only its screen tells, and nothing is typed there.
type starts struct {
	core *core
	look func(ctx context.Context, agent string) (screen, text string, err error)

	configDir func(a engine.AgentStart) string // where a client keeps the user's settings

	ctx  context.Context
	stop context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	watched map[string]bool // by the agent's id
}

const (
	// lookEvery is the pause between two looks at a screen.
	lookEvery = 500 * time.Millisecond
	// lookSeldom is the pause once a person was told, who may come hours later.
	lookSeldom = 5 * time.Second
	// silence is after how long a client is said to be silent.
	silence = time.Minute
	// dawdling is after how long a client that has started is said not to work on its prompt.
	// Hooks of others may keep it from that for some time.
	dawdling = 30 * time.Second
	// looking is how long a look may take.
	looking = 5 * time.Second
)

func newStarts(core *core, look func(ctx context.Context, agent string) (screen, text string, err error), configDir func(engine.AgentStart) string) *starts {
	s := &starts{core: core, look: look, configDir: configDir, watched: map[string]bool{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// end watches nobody any more.
func (s *starts) end() {
	s.stop()
	s.mu.Lock()
	s.watched = nil
	s.mu.Unlock()
	s.all.Wait()
}

// changed takes an owner that has changed. It does not block.
func (s *starts) changed(o *engine.Owner) {
	if s.look == nil || !starting(o, "") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	agent := o.Agent.ID
	if s.watched == nil || s.watched[agent] {
		return
	}
	s.watched[agent] = true
	s.all.Go(func() {
		s.watch(o.ID, agent)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watched, agent)
	})
}

// starting reports whether an owner's client, or that very one, was started and does not work
// yet.
func starting(o *engine.Owner, agent string) bool {
	if o == nil || o.Terminal() || o.Agent == nil || !o.Agent.Unbegun() || o.Agent.Exited {
		return false
	}
	return !notStarted(o) && (agent == "" || agent == o.Agent.ID)
}

// notStarted reports whether the owner's agent is yet to be started, or may be.
func notStarted(o *engine.Owner) bool {
	return slices.ContainsFunc(o.Effects, func(e engine.OpenEffect) bool {
		return e.Kind == engine.StartAgent && e.Agent.ID == o.Agent.ID
	})
}

// watch looks at a client until it works, or is gone. Each thing that it shows is told once, when
// it was seen twice: screens are drawn piece by piece. One that has started tells by its hooks what
// it asks.
func (s *starts) watch(owner, agent string) {
	known := map[string]bool{"": true, "dialog": true} // these mean nothing by themselves
	before, ready, id := "", false, journal.NewID()

	for every, since := lookEvery, time.Now(); pause.For(s.ctx, every) == nil; {
		o := s.core.owner(owner)
		if !starting(o, agent) {
			return
		}
		if o.Agent.Ready && !ready {
			ready, since = true, time.Now()
		}
		if ready && time.Since(since) <= dawdling {
			continue
		}

		screen, text := s.glance(agent)
		switch {
		case ready:
			before, screen = engine.ScreenUnbegun, engine.ScreenUnbegun
		case time.Since(since) > silence && known[screen] && len(known) == 2:
			before, screen = "silent", "silent"
			text = s.hooksOff(*o.AgentStart()) + text
		}

		if screen == before && !known[screen] && s.record(owner, id, engine.AgentBlocked{AgentID: agent, Screen: screen, Text: plain.Text(text)}) {
			known[screen] = true
			every = lookSeldom
		}
		before = screen
	}
}

// glance is what is to be seen; nothing where nobody can look.
func (s *starts) glance(agent string) (screen, text string) {
	ctx, cancel := context.WithTimeout(s.ctx, looking)
	defer cancel()
	screen, text, err := s.look(ctx, agent)
	if err != nil {
		return "", ""
	}
	return screen, text
}

// record reports whether the owner knows it now.
func (s *starts) record(owner, id string, b engine.AgentBlocked) bool {
	in := engine.Input{ID: "blocked:" + id + ":" + b.Screen, What: b}
	return unlessRefused(s.core.try(s.ctx, owner, in)) == nil
}

// hooksOff is why a client may be silent that runs.
func (s *starts) hooksOff(a engine.AgentStart) string {
	if by, off := (settings.Agent{Dir: a.Cwd, ConfigDir: s.configDir(a)}).Disabled(); off {
		return "Hooks are disabled: disableAllHooks in " + by.Path + "\n"
	}
	return ""
}
