package top

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/nudge"
)

// How much is asked for at most. There may be 10,000 pipelines and 2,000 sessions: a person reads none
// of the others, and Status counts them.
const (
	maxLive        = 500
	maxSessions    = 200
	maxDead        = 100
	maxStops       = 100
	maxJobs        = 200
	maxMessages    = 30
	tailLines      = 500
	detailLogLines = 12 // of the log, in details
)

// How often something happens.
const (
	coalesce  = 250 * time.Millisecond // events are shown together: at most 4 times a second
	pollEvery = 5 * time.Second        // what no event tells of
	syncEvery = 15 * time.Second       // what events tell less of than lists; and stops, for which the journal is read
	firstWait = 250 * time.Millisecond // until the daemon is asked again
	mostWait  = 5 * time.Second
)

const (
	live = "queued,running,waiting,held"
	over = "done,failed,cancelled"
)

// Source asks the daemon for what the screen shows.
type Source struct {
	client   *daemonapi.Client
	stateDir string
	refresh  chan struct{}
	now      func() time.Time

	inFleet bool // as Watch has seen it last
}

// NewSource asks that daemon. The state directory is for what is known without it.
func NewSource(client *daemonapi.Client, stateDir string) *Source {
	return &Source{client: client, stateDir: stateDir, refresh: make(chan struct{}, 1), now: time.Now}
}

// Refresh has Watch ask for everything again, also a daemon that was not there.
func (s *Source) Refresh() {
	nudge.Reader(s.refresh)
}

// Watch tells what there is and what changes, until the context ends. A daemon that is not there, or
// not any more, is asked again after a while that grows.
func (s *Source) Watch(ctx context.Context, tell func(any)) {
	for wait := firstWait; ctx.Err() == nil; {
		met, err := s.attend(ctx, tell)
		if ctx.Err() != nil {
			return
		}
		if met {
			wait = firstWait
		}
		tell(Down{err})
		s.pause(ctx, wait)
		wait = min(2*wait, mostWait)
	}
}

// pause waits, unless the person asks again.
func (s *Source) pause(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-s.refresh:
	}
}

// errGone says that the daemon ended the stream of events.
var errGone = fmt.Errorf("%w: it has stopped", daemonapi.ErrNotRunning)

// attend watches as long as the daemon stays. It reports whether the daemon was there.
func (s *Source) attend(ctx context.Context, tell func(any)) (met bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// What happens between this and the lists is in the events, so that nothing is missed.
	status, err := s.client.Status(ctx)
	if err != nil {
		return false, err
	}
	if err := s.tellWorld(ctx, status, tell); err != nil {
		return true, err
	}

	events, ended := s.events(ctx, status.Events)
	poll, sync := time.NewTicker(pollEvery), time.NewTicker(syncEvery)
	defer poll.Stop()
	defer sync.Stop()
	var flush <-chan time.Time
	changed := map[string]daemonapi.Owner{}
	stale := false
	for {
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case err := <-ended:
			return true, err
		case o := <-events:
			if changed[o.ID] = o; flush == nil {
				flush = time.After(coalesce)
			}
			stale = true
			continue
		case <-flush:
			flush = nil
			tell(Changed{inOrder(changed)})
			clear(changed)
			continue
		case <-poll.C:
			if err = s.tellPolled(ctx, false, tell); err == nil && s.inFleet {
				err, stale = s.tellDistant(ctx, tell), true
			}
		case <-sync.C:
			if !stale {
				err = s.tellPolled(ctx, true, tell)
				break
			}
			err, stale = s.tellAll(ctx, tell), false
		case <-s.refresh:
			err = s.tellAll(ctx, tell)
		}
		if err != nil {
			return true, err
		}
	}
}

// inOrder are the owners by id: the same events lead to the same screen.
func inOrder(owners map[string]daemonapi.Owner) (all []daemonapi.Owner) {
	for _, o := range owners {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b daemonapi.Owner) int { return a.Created.Compare(b.Created) })
	return all
}

// events are the owners after each event, and why there will be no more.
func (s *Source) events(ctx context.Context, after uint64) (<-chan daemonapi.Owner, <-chan error) {
	owners, ended := make(chan daemonapi.Owner), make(chan error, 1)
	go func() {
		defer caught(ended)
		for e, err := range s.client.Events(ctx, "", after) {
			if err != nil {
				ended <- err
				return
			}
			if e.Now == nil {
				continue
			}
			select {
			case owners <- *e.Now:
			case <-ctx.Done():
				return
			}
		}
		ended <- errGone
	}()
	return owners, ended
}

// caught makes an error of a panic, which would leave the terminal as it is drawn on.
func caught(failed chan<- error) {
	if trouble := recover(); trouble != nil {
		failed <- fmt.Errorf("internal error: %v", trouble)
	}
}

func (s *Source) tellAll(ctx context.Context, tell func(any)) error {
	status, err := s.client.Status(ctx)
	if err != nil {
		return err
	}
	return s.tellWorld(ctx, status, tell)
}

// tellWorld tells everything.
func (s *Source) tellWorld(ctx context.Context, status daemonapi.Status, tell func(any)) error {
	w := World{Status: status, Skew: s.client.Skew(), Owners: map[string]daemonapi.Owner{}, Spent: map[string]float64{}}
	today := daemonapi.Filter{Since: midnight(s.now()), Parent: daemonapi.AnyParent, Limit: maxLive}
	for _, list := range []lister{s.client.Pipelines, s.client.Runs} {
		if err := w.read(ctx, list, today, s.now()); err != nil {
			return err
		}
	}
	// An owner that another runs is in no list without its parent, and may wait for a person all the same.
	waiting := daemonapi.Filter{Status: "waiting,held", Parent: daemonapi.AnyParent, Limit: maxLive}
	children, err := s.client.Pipelines(ctx, waiting)
	if err != nil {
		return err
	}
	w.add(children)
	p, err := s.poll(ctx, true)
	if err != nil {
		return err
	}
	w.Polled = p
	tell(Up{w})
	return nil
}

type lister = func(context.Context, daemonapi.Filter) ([]daemonapi.Owner, error)

// read takes over those that have not ended, the newest that have, and what was spent today.
func (w *World) read(ctx context.Context, list lister, today daemonapi.Filter, now time.Time) error {
	for _, f := range []daemonapi.Filter{{Status: live, Limit: maxLive}, {Status: over, Limit: maxEnded}} { // one that ends meanwhile has ended
		owners, err := list(ctx, f)
		if err != nil {
			return err
		}
		w.add(owners)
	}
	owners, err := list(ctx, today)
	for i := range owners {
		if o := &owners[i]; startedToday(o, now) {
			w.Spent[o.ID] = o.USD
		}
	}
	w.More = w.More || len(owners) == maxLive
	return err
}

func (w *World) add(owners []daemonapi.Owner) {
	for _, o := range owners {
		w.Owners[o.ID] = o
	}
}

func (s *Source) tellPolled(ctx context.Context, stops bool, tell func(any)) error {
	p, err := s.poll(ctx, stops)
	if err == nil {
		tell(p)
	}
	return err
}

// tellDistant tells of what is on other machines: the daemon's events are about this one.
func (s *Source) tellDistant(ctx context.Context, tell func(any)) error {
	var all []daemonapi.Owner
	for _, list := range []lister{s.client.Pipelines, s.client.Runs} {
		for _, f := range []daemonapi.Filter{{Status: live, Parent: daemonapi.AnyParent, Limit: maxLive}, {Status: over, Limit: maxEnded}} {
			owners, err := list(ctx, f)
			if err != nil {
				return err
			}
			all = append(all, distant(owners)...)
		}
	}
	if len(all) > 0 {
		tell(Changed{all})
	}
	return nil
}

// poll asks for what no event tells of.
func (s *Source) poll(ctx context.Context, stops bool) (p Polled, err error) {
	if p.Fleet, err = s.client.Fleet(ctx); err != nil {
		return p, err
	}
	if s.inFleet = p.Fleet.Name != ""; s.inFleet {
		if p.Jobs, err = s.jobs(ctx); err != nil {
			return p, err
		}
	}
	if p.Sessions, err = s.client.Sessions(ctx, daemonapi.Filter{Limit: maxSessions}); err != nil {
		return p, err
	}
	for _, states := range []string{"asking,failed,gave_up", "busy,blocked,stopped"} { // many that only stopped hide none that needs a person
		seen, err := s.client.Seen(ctx, daemonapi.Filter{Status: states, Limit: maxSessions})
		if err != nil && daemonapi.Code(err) != "not_found" { // an older daemon does not know of them
			return p, err
		}
		p.Seen = append(p.Seen, seen...)
	}
	if p.Dead, err = s.client.SomeWork(ctx, daemonapi.Filter{Status: "dead", Limit: maxDead}); err != nil || !stops {
		return p, err
	}
	p.Stops, err = s.stops(ctx, "", maxStops)
	return p, err
}

// Survey says how projects are enforced.
func (s *Source) Survey(roots []string) Surveyed {
	return Surveyed{survey(s.stateDir, roots, s.now())}
}

// Answer answers a decision. It asks once more where the daemon did not answer: under one id it is
// done once.
func (s *Source) Answer(ctx context.Context, a Answer) Answered {
	a.Answer.ID = daemonapi.NewID()
	d, err := s.client.Answer(ctx, a.Decision, a.Answer)
	if errors.Is(err, daemonapi.ErrCut) || errors.Is(err, context.DeadlineExceeded) || daemonapi.Code(err) == "unavailable" {
		d, err = s.client.Answer(ctx, a.Decision, a.Answer)
	}
	return Answered{d, err}
}
