package web

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/workspace"
	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/record/stops"
)

const (
	// pastKept is how far back pages look.
	pastKept = 31 * 24 * time.Hour
	// pastPatience is how long a page waits until the journal is read. The first time, that may take longer:
	// then the page has what there is so far, and is drawn again.
	pastPatience = 150 * time.Millisecond
	// pastTurn is how many records are taken before others may look.
	pastTurn = 256
)

// Past knows what the stops in the journal come to. It reads the journal once, and then only what was
// added; pages that are drawn again cost nothing more.
type Past struct {
	journal    *journal.Journal
	workspaces string                   // the directory of those that stopgate made
	projects   func() map[string]string // that they were made for

	patience time.Duration // pastPatience
	reading  chan struct{} // holds one while the journal is being read

	mu      sync.Mutex
	homes   map[string]string // what projects told
	asked   bool              // since the journal is being read
	at      journal.Position
	whole   bool // the journal was read to its end
	fault   error
	history stops.History
	places  stops.Places
	probe   stops.Brief // the last block of doctor
}

func newPast(stateDir string, projects func() map[string]string) *Past {
	p := &Past{
		journal: journal.New(filepath.Join(stateDir, "journal"), journal.Limits{}), patience: pastPatience, reading: make(chan struct{}, 1),
		workspaces: workspace.Root(stateDir), projects: projects,
	}
	p.reset()
	return p
}

func (p *Past) reset() {
	p.at, p.whole = journal.Position{}, false
	p.history, p.places, p.probe = stops.History{Keep: pastKept}, stops.Places{}, stops.Brief{}
}

// Past is what the journal tells of the past. With more it is not read to its end yet.
func (r *Request) Past(look func(p *Past)) (more bool, err error) {
	p := r.site.past
	done := p.catchUp(r.site.run)
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-r.Context().Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history.Forget(r.Now.Add(-pastKept))
	look(p)
	return !p.whole, p.fault
}

// catchUp reads what was added, in a goroutine. The channel is closed when that is done, or when another
// one is at it and has come to the end.
func (p *Past) catchUp(run func(do func(context.Context)) bool) <-chan struct{} {
	done := make(chan struct{})
	begun := run(func(ctx context.Context) {
		defer close(done)
		select {
		case p.reading <- struct{}{}:
		case <-ctx.Done():
			return
		}
		defer func() { <-p.reading }()

		err := p.read(ctx)
		if errors.Is(err, journal.ErrPosition) { // the journal is another one by now
			p.mu.Lock()
			p.reset()
			p.mu.Unlock()
			err = p.read(ctx)
		}

		p.mu.Lock()
		defer p.mu.Unlock()
		p.fault = err
		p.whole = p.whole || err == nil && ctx.Err() == nil
	})

	if !begun {
		close(done)
	}
	return done
}

func (p *Past) read(ctx context.Context) error {
	p.mu.Lock()
	from := p.at
	p.asked = false
	p.mu.Unlock()

	var turn []journal.Entry
	give := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, entry := range turn {
			p.take(entry)
		}
		turn = turn[:0]
	}
	defer give()

	for entry, err := range p.journal.Select(from, stops.IsStop) {
		if err != nil {
			return err
		}
		if turn = append(turn, entry); len(turn) == pastTurn {
			give()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (p *Past) take(entry journal.Entry) {
	p.at = entry.Position
	if entry.Record == nil {
		return
	}

	s := stops.Of(entry.Record)
	switch {
	case s == nil:
	case strings.HasPrefix(s.Session, doctor.SessionPrefix):
		if s.Decision == stops.Blocked {
			p.probe = stops.Brief{ID: s.ID, Time: s.Time, Session: s.Session, Decision: s.Decision}
		}
	default:
		p.places.Add(s)
		if entry.Record.Kind == event.Answered {
			for i := range s.Trees {
				s.Trees[i].Root = p.home(s.Trees[i].Root)
			}
			p.history.Add(s)
		}
	}
}

// home is the project of a tree: of a workspace, the one that it was made for. There are too many of these
// to be told apart, and their gates are the project's.
func (p *Past) home(root string) string {
	rest, within := strings.CutPrefix(root, p.workspaces+string(filepath.Separator))
	if !within {
		return root
	}
	name, _, _ := strings.Cut(rest, string(filepath.Separator))
	path := filepath.Join(p.workspaces, name)
	if p.homes[path] == "" && !p.asked {
		p.homes, p.asked = p.projects(), true
	}
	return cmp.Or(p.homes[path], p.workspaces)
}
