// Package desk is a machine's jobs as its daemon deals with them: it answers people about the fleet's jobs, and has
// the machine do its part while it is linked to a fleet.
package desk

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Options are what a desk needs of its daemon.
type Options struct {
	Machine claim.Machine
	// Root is where a project of the fleet is on this machine, and Name what the fleet calls the one at a path; "" where it
	// has none.
	Root, Name func(string) string

	// Sign signs what this machine says.
	Sign func(text []byte) ([]byte, error)
	// News is called when something about jobs has changed. It must not block.
	News func()
	// Wake makes it look at what the machine does: an attempt may have ended, or there is room.
	Wake <-chan struct{}
	Log  *slog.Logger
	Now  func() time.Time
	// Unheard is for how long no beat of ours was acknowledged; false where none ever was.
	Unheard func() (time.Duration, bool)
}

// Desk is a daemon's desk. All methods may be called at once.
type Desk struct {
	Options
	mu  sync.Mutex
	now *session // nil while there is no link
}

// session is the time of one link.
type session struct {
	link   *link.Link
	board  *board.Board
	member *claim.Member
	peers  Peers
}

// Peers are the members of a fleet as this machine sees them.
type Peers interface {
	Peers() []daemonapi.FleetMember
	// Passed are the jobs that a member does not take, with why.
	Passed(member string) map[string]string
}

var _ api.JobPlane = (*Desk)(nil)

// New is a desk that is linked to no fleet yet.
func New(o Options) *Desk { return &Desk{Options: o} }

// The pauses before the fleet's store is read again after an error.
const (
	retry       = time.Second
	retrySeldom = 30 * time.Second
)

// Run does the machine's part while a link lasts.
func (d *Desk) Run(ctx context.Context, l *link.Link, peers Peers) {
	b, err := d.open(ctx, l)
	if err != nil {
		return // the context has ended
	}
	member := &claim.Member{Name: l.Member, Board: b, Machine: d.Machine, Log: d.Log, Now: d.Now, Wake: d.Wake}
	d.set(&session{l, b, member, peers})
	defer d.set(nil)
	deaths := &deaths{desk: d, member: l.Member, board: b, peers: peers.Peers, missing: map[string]time.Time{}}
	var all sync.WaitGroup
	all.Go(func() { d.follow(ctx, b) })
	all.Go(func() { d.passOn(ctx, b) })
	all.Go(func() { member.Run(ctx) })
	all.Go(func() { deaths.run(ctx) })
	all.Wait()
}

func (d *Desk) open(ctx context.Context, l *link.Link) (b *board.Board, err error) {
	for range pause.Doubling(ctx, retry, retrySeldom) {
		if b, err = board.Open(ctx, l.Log, l.Member, d.Now, d.Log); err == nil {
			return b, nil
		}
		if ctx.Err() == nil {
			d.Log.Warn("cannot read the fleet's jobs yet", "error", err)
		}
	}
	return nil, ctx.Err()
}

func (d *Desk) follow(ctx context.Context, b *board.Board) {
	for range pause.Doubling(ctx, retry, retrySeldom) {
		if err := b.Follow(ctx); ctx.Err() == nil {
			d.Log.Warn("the fleet's jobs cannot be followed; trying again", "error", err)
		}
	}
}

// passOn tells the daemon of news, twice a second at most: it reads runbooks and draws pages then.
func (d *Desk) passOn(ctx context.Context, b *board.Board) {
	for {
		news := b.News()
		d.News()
		if pause.For(ctx, 500*time.Millisecond) != nil {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// Passed are the jobs that wait although this machine has what they need, with why it does not take them.
func (d *Desk) Passed() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil {
		return nil
	}
	return d.now.member.Passed()
}

func (d *Desk) set(s *session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = s
}

// session is the link that there is now. What is shown without one would be of an unknown age.
func (d *Desk) session() (*session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil || !d.now.link.Conn.IsConnected() {
		return nil, failure("unavailable", "this machine is not connected to a fleet: nothing was changed", "see: stopgate fleet status")
	}
	return d.now, nil
}

func failure(code, text, hint string) error {
	return &api.Error{Failure: daemonapi.Failure{Code: code, Error: text, Hint: hint}}
}

// patience is how long people wait for a change: the election of a leader takes up to 9 s.
const patience = 20 * time.Second

// asFailure is an error as people are told of it.
func asFailure(err error) error {
	if known, ok := errors.AsType[*api.Error](err); ok {
		return known
	}
	if errors.Is(err, store.ErrUnknown) {
		return failure("unavailable", "the fleet does not answer: it is not known whether something has changed", "ask again")
	}
	return failure("unavailable", "the fleet does not answer; nothing was changed: "+err.Error(), "see: stopgate fleet status")
}
