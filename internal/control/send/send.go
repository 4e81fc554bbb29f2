// Package send delivers the letters of the outbox to the agents' gateways. It is
// linked into stopgated alone: hooks put letters into the outbox and never wait for a
// gateway.
package send

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Sender empties the outbox.
type Sender struct {
	StateDir  string
	ConfigDir string // of the registry and the prompts
	Environ   []string
	UserAgent string
	// Type has a text typed into another tmux session. An error says that it was not
	// and that it is worth another try: soon, or once a person has put something right
	// where it is an interface{ Refused() bool } that says so. nil: nobody here can.
	Type func(ctx context.Context, session, key, text string) error

	// What tests have in place of the real thing; zero means the real one.
	now     func() time.Time
	wait    func(ctx context.Context, d time.Duration) error
	turn    time.Duration // how long a program that blocks for the agent's turn is waited for
	command time.Duration // how long a command may take
	request time.Duration // how long an HTTP gateway may take
	look    time.Duration // how often the output of a program is looked at
	emptied func()        // a box was found empty and is not yet released
}

// Run sends every letter that waits, those to one agent in order, and returns when
// there is none left or ctx is over. What another sender is at is left to it.
func (s Sender) Run(ctx context.Context) error {
	s.setDefaults()
	s.prune()
	agentIDs, err := s.outbox().AgentIDs()
	errs := make([]error, len(agentIDs))
	var all sync.WaitGroup
	for i, agent := range agentIDs {
		all.Go(func() { errs[i] = s.empty(ctx, agent) })
	}
	all.Wait()
	return errors.Join(append(errs, err)...)
}

func (s *Sender) setDefaults() {
	if s.now == nil {
		s.now = time.Now
	}
	if s.wait == nil {
		s.wait = pause.For
	}
	if s.emptied == nil {
		s.emptied = func() {}
	}
	s.turn = cmp.Or(s.turn, 15*time.Minute)
	s.command = cmp.Or(s.command, 10*time.Minute)
	s.request = cmp.Or(s.request, 30*time.Second)
	s.look = cmp.Or(s.look, time.Second)
}

func (s Sender) outbox() wake.Outbox { return wake.NewOutbox(s.StateDir) }

// empty sends all letters to one agent. Whoever puts a letter into the box starts a
// sender, which leaves again when it finds us here. So we look once more after the
// lock is released: the letter may have come after we last looked.
func (s Sender) empty(ctx context.Context, agent string) error {
	c := carrier{Sender: s, box: s.outbox().Box(agent), id: rand.Text()}
	for {
		release, err := c.box.Hold()
		if errors.Is(err, lockfile.ErrBusy) {
			return nil
		}
		if err != nil {
			return err
		}
		wait, err := c.sendAll(ctx)
		release()
		switch {
		case errors.Is(err, errTaken):
			return nil
		case err != nil:
			return err
		case c.wait(ctx, wait) != nil:
			return nil
		}
		if waits, err := c.box.Waiting(); err != nil || !waits {
			return err
		}
	}
}

// recipient is who gets the letter by the registry as it is now.
func (s Sender) recipient(l wake.Letter) (registry.OutsideAgent, error) {
	// Entries that are fine work beside one that is not.
	r, err := registry.Load(registry.Path(s.ConfigDir))
	outside, found := find(r, l)
	switch {
	case found && outside.Gateway.Transport != "":
		return outside, nil
	case err != nil:
		return outside, fixable("%v", err)
	}
	return outside, fixable("the registry has no enabled entry for agent %q", l.AgentID)
}

// find finds the entry of the letter's session, else any of its agent.
func find(r *registry.Registry, l wake.Letter) (registry.OutsideAgent, bool) {
	if outside, found := r.Find(l.Session); found && outside.AgentID == l.AgentID {
		return outside, true
	}
	agents := r.Agents()
	i := slices.IndexFunc(agents, func(a registry.OutsideAgent) bool { return a.Enabled && a.AgentID == l.AgentID })
	if i < 0 {
		return registry.OutsideAgent{}, false
	}
	return agents[i], true
}
