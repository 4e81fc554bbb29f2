// Package desk is a machine's jobs as its daemon deals with them: it answers people about the fleet's jobs, and has
// the machine do its part while it is linked to a fleet.
package desk

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/claim"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Options are what a desk needs of its daemon.
type Options struct {
	Machine claim.Machine
	// Name is what the fleet calls the project at a path; "" where it has no name for it.
	Name func(root string) string
	// Check is what is wrong with a command of the project at a path, as far as that is known here; nil where nothing is.
	Check func(root, command string, args []string) error

	// Sign signs what this machine says.
	Sign func(text []byte) ([]byte, error)
	// News is called when something about jobs has changed. It must not block.
	News func()
	// Wake makes it look at what the machine does: an attempt may have ended, or there is room.
	Wake <-chan struct{}
	Log  *slog.Logger
	Now  func() time.Time
	// InFleet reports whether the machine is in a fleet at all; nil is yes.
	InFleet func() bool
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
	member := &claim.Member{Name: l.Member, Board: b, Machine: d.Machine, Log: d.Log, Now: d.Now, Wake: d.Wake, Heard: d.heard}
	d.set(&session{l, b, member, peers})
	defer d.set(nil)
	deaths := &deaths{desk: d, member: l.Member, board: b, peers: peers.Peers, missing: map[string]time.Time{}, stopped: map[string]time.Time{}}
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

// session is the link that there is now.
func (d *Desk) session() (*session, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil {
		if d.InFleet != nil && !d.InFleet() {
			return nil, api.Refusal("unavailable", member.ErrNone.Error()+", so it has no jobs", member.MakeOrJoin)
		}
		return nil, api.Refusal("unavailable", "this machine is not connected to its fleet, and does not know the jobs", "see: stopgate fleet status")
	}
	return d.now, nil
}

// unheard is for how many seconds the fleet has not answered; 0 while it does. So old is what is on the board.
func (d *Desk) unheard(s *session) float64 {
	ago, _ := d.Unheard()
	if s.link.Conn.IsConnected() && ago <= beat.UnheardAfter {
		return 0
	}
	return max(1, math.Floor(ago.Seconds()))
}

// reached is the link, if the fleet takes changes now. Otherwise nothing was sent, and the error says so at once where
// that is known: did is what would have been done.
func (d *Desk) reached(ctx context.Context, did string) (*session, error) {
	s, err := d.session()
	switch {
	case err != nil && d.InFleet != nil && !d.InFleet():
		return nil, api.Refusal("unavailable", member.ErrNone.Error()+": nothing was "+did, member.MakeOrJoin)
	case err != nil:
		return nil, api.Refusal("unavailable", "this machine is not connected to its fleet: nothing was "+did, "see: stopgate fleet status")
	case d.unheard(s) > 0:
		ago := daemonapi.Span(time.Duration(d.unheard(s)) * time.Second)
		return nil, api.Refusal("unavailable", "this machine is not connected to its fleet, which has not answered for "+ago+": nothing was "+did, "see: stopgate fleet status")
	}
	ctx, cancel := context.WithTimeout(ctx, election)
	defer cancel()
	if err := s.board.Reach(ctx); err != nil {
		return nil, d.failed(err, did, "")
	}
	return s, nil
}

// patience is how long people wait for a change, and election for a fleet that does not answer: the election of a
// leader takes up to 9 s.
const (
	patience = 20 * time.Second
	election = 10 * time.Second
)

// failed is an error as people are told of it: did is what was to be done, and look how to see whether it was. What
// the store says of itself is for the log.
func (d *Desk) failed(err error, did, look string) error {
	if known, ok := errors.AsType[*api.Error](err); ok {
		return known
	}
	d.Log.Warn("the fleet's store does not answer", "error", err)
	if errors.Is(err, store.ErrUnknown) {
		return api.Refusal("unavailable", "the fleet has stopped answering: it is not known whether something was "+did, look)
	}
	return api.Refusal("unavailable", "the fleet does not answer: nothing was "+did, "see: stopgate fleet status")
}
