// Package people tells people what waits for them: on the desktop, by their own command and
// through any service that shoutrrr knows. It links much, and so belongs to stopgated alone.
package people

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/project/notify"
)

// Options are what a notifier needs.
type Options struct {
	// Config is how people are told, as it is now. Where it cannot be read, nobody is.
	Config   func() (config.Notify, error)
	Home     string   // what ~ stands for
	StateDir string   // whose logs what commands print goes to
	Environ  []string // of commands
	Desktop  Desktop
	// Trouble is called with what is wrong, each time that changes; nil means that it is
	// well again. Calls come one after the other.
	Trouble func(error)
}

// Notifier tells people.
type Notifier struct {
	opts    Options
	health  health
	showing sync.Mutex // one message at a time is put on the screen

	mu    sync.Mutex
	stuck map[way]int // what was given up and has not ended
}

// New is a notifier that has told nobody yet.
func New(o Options) *Notifier {
	return &Notifier{opts: o, health: health{tell: o.Trouble}, stuck: map[way]int{}}
}

const (
	// limit is how long one way may take. Whoever is slower is not waited for.
	limit = 15 * time.Second
	// courtesy is how long the others may take where one way has taken a message: the next one
	// waits for that long.
	courtesy = 2 * time.Second
)

// Check tells whether there is a desktop, where one is wanted: a person who has just
// asked for it need not wait for the first message to learn that it cannot come.
func (n *Notifier) Check() {
	c, err := n.opts.Config()
	if err != nil {
		return // the first message tells it
	}
	if used := uses(c); used[onDesktop] {
		n.health.record(deliveries{onDesktop: n.opts.Desktop.Missing()}, used)
	}
}

// Held is how long nobody is told anything about a project; 0 where people may be told.
func (n *Notifier) Held(project string, now time.Time) time.Duration {
	c, err := n.opts.Config()
	if err != nil {
		return 0 // so that the message fails, for people to see
	}
	ways := notify.Route(c, n.opts.Home, project)
	until := notify.QuietUntil(ways.Quiet, now)
	if ways.Muted || until.IsZero() {
		return 0
	}
	return until.Sub(now)
}

// Muted reports whether nothing at all is sent about a project.
func (n *Notifier) Muted(project string) (bool, error) {
	c, err := n.opts.Config()
	return err == nil && notify.Route(c, n.opts.Home, project).Muted, err
}

// Notify sends a message in every way that there is for its project, all at once, and
// returns when each has taken it or has failed, or soon after one has taken it. The error says
// that nobody took it. What only some ways did not take is told as trouble; a desktop that is not
// there is never more.
func (n *Notifier) Notify(ctx context.Context, m Message) error {
	c, err := n.opts.Config()
	if err != nil {
		err = errors.New(tidy(err.Error()))
		n.health.record(deliveries{inConfig: err}, nil)
		return err
	}
	record := func(got deliveries) { n.health.record(got, uses(c)) }
	ways := n.ways(notify.Route(c, n.opts.Home, m.Project), m.plain(n.opts.Home))
	got := n.send(ctx, ways, record)
	record(got)
	return got.failure()
}

// send sends a message in all ways. What becomes of it in those that are not waited for is told
// later.
func (n *Notifier) send(ctx context.Context, ways map[way]sending, later func(deliveries)) deliveries {
	type end struct {
		which way
		err   error
	}

	ends := make(chan end, len(ways))
	for which, send := range ways {
		go func() { ends <- end{which, n.within(ctx, which, send)} }()
	}

	got := deliveries{}
	var enough <-chan time.Time
	for len(got) < len(ways) {
		select {
		case e := <-ends:
			got[e.which] = e.err
			if e.err == nil && enough == nil {
				enough = time.After(courtesy)
			}
		case <-enough:
			rest := len(ways) - len(got)
			go func() {
				late := deliveries{}
				for range rest {
					e := <-ends
					late[e.which] = e.err
				}
				later(late)
			}()
			return got
		}
	}
	return got
}

// sending sends a message in one way.
type sending func(context.Context) error

// ways are those in which a message is sent.
func (n *Notifier) ways(w config.Ways, m Message) map[way]sending {
	all := map[way]sending{}
	for _, which := range waysOf(w) {
		switch which {
		case byCommand:
			all[which] = func(ctx context.Context) error { return n.command(ctx, w.Command, m) }
		case onDesktop:
			all[which] = func(context.Context) error { return n.desktop(m) }
		default:
			all[which] = func(ctx context.Context) error { return deliver(ctx, which.address, m) }
		}
	}
	return all
}

// mostStuck is how many messages may be under way longer than they should, before no more
// are begun: each is a goroutine that nobody can end.
const mostStuck = 3

// errSlow says that nobody knows whether a message arrived.
var errSlow = errors.New("no answer within " + limit.String())

// within sends a message, and waits no longer for that than it may take.
func (n *Notifier) within(ctx context.Context, which way, send sending) error {
	if n.givenUp(which, 0) >= mostStuck {
		return errors.New("it has not answered for a long time; nothing more is sent until it does")
	}

	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- safely(ctx, send) }()

	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}

	n.givenUp(which, 1)
	go func() {
		<-done
		n.givenUp(which, -1)
	}()
	return context.Cause(ctx)
}

// givenUp counts what was given up and has not ended.
func (n *Notifier) givenUp(which way, more int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stuck[which] += more
	return n.stuck[which]
}

// safely sends a message by code that is not ours: what it makes of a strange answer must
// not end the daemon.
func safely(ctx context.Context, send sending) (err error) {
	defer func() {
		if recover() != nil { // its value may hold a token
			err = errors.New("internal error while sending")
		}
	}()
	return send(ctx)
}
