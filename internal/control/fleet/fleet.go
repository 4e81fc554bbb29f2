// Package fleet is a daemon's part in a fleet. Each machine decides about its own pipelines and agents; the
// fleet shows them to all, carries requests, and hands out jobs. Nothing local waits for it.
package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/ask"
	"github.com/stopgate/stopgate/internal/control/fleet/beat"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
	"github.com/stopgate/stopgate/internal/control/fleet/member"
	"github.com/stopgate/stopgate/internal/control/fleet/view"
	"github.com/stopgate/stopgate/internal/control/nudge"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Options are what a daemon gives to its part in the fleet.
type Options struct {
	Version string
	Plane   api.Plane    // what is this machine's own
	Handler http.Handler // the API of Plane, for requests of others
	Config  func() *config.Global
	Log     *slog.Logger
	Now     func() time.Time
	// Dial connects to the fleet that this machine is in, and waits until it is in one. Fleet closes the
	// connection.
	Dial func(ctx context.Context) (*link.Link, error)
	// Trouble is why there is no connection; nil where there is one.
	Trouble func() error
	// Self is what this machine is called, and in which fleet, also while there is no connection; empty where it is
	// in none.
	Self func() (fleet, member string)
	// Members are the machines that are in the fleet, by its own records. With an error come those that can be read.
	Members func(ctx context.Context, l *link.Link) ([]member.Record, error)
	// Room is how many agents run here, and how many more may start; -1 is any number.
	Room func() (agents, room int)
	// Jobs does this machine's part in the fleet's jobs while a link lasts, and Passed says which of those that wait it
	// does not take, and why. Both may be nil.
	Jobs   func(ctx context.Context, l *link.Link)
	Passed func() map[string]string
	// Changed is called when what other machines show has changed. It must not block.
	Changed func()
}

// Fleet is one machine's part in its fleet.
type Fleet struct {
	Options
	heart     *beat.Heart
	others    *view.Others
	publisher *view.Publisher
	news      chan struct{} // the views of others have changed

	mu       sync.Mutex
	link     *link.Link // nil while there is none
	name     string     // of the fleet, also while there is no link
	me       string
	observer *beat.Observer  // nil before the first link
	linked   bool            // at the last look
	since    time.Time       // of that
	trouble  error           // what keeps us from it
	records  []member.Record // of the machines
	warned   map[string]string
}

// New is a machine's part in a fleet that it is or may come to be in.
func New(o Options) *Fleet {
	f := &Fleet{Options: o, news: make(chan struct{}, 1), warned: map[string]string{}}
	f.heart = beat.NewHeart(f.beat)
	f.others = view.NewOthers(f.renewed)
	f.publisher = view.NewPublisher(source{f})
	return f
}

// Run is a member of the fleet until the context ends. It lasts also where there is no fleet yet.
func (f *Fleet) Run(ctx context.Context) {
	const longest = 30 * time.Second
	for range pause.Doubling(ctx, time.Second, longest) {
		l, err := f.Dial(ctx)
		if ctx.Err() != nil {
			if l != nil {
				closeLink(l)
			}
			return
		}
		f.tell(err)
		if err != nil {
			f.Log.Warn("no connection to the fleet", "error", err)
			continue
		}
		f.set(l)
		f.work(ctx, l)
		f.set(nil)
		if name, _ := f.Self(); name == "" {
			f.leave()
		}
	}
}

// leave forgets a fleet that this machine is not in any more.
func (f *Fleet) leave() {
	f.mu.Lock()
	f.name, f.me, f.observer, f.records, f.linked, f.since = "", "", nil, nil, false, time.Time{}
	f.mu.Unlock()
	f.others.Keep(nil)
}

// work does everything that a member does, at once, until the link ends.
func (f *Fleet) work(ctx context.Context, l *link.Link) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for _, part := range f.parts() {
		all.Go(func() { part(ctx, l) })
	}
	select {
	case <-l.Ended():
	case <-ctx.Done():
		f.sayStopped(l)
	}
	cancel()
	closeLink(l) // also so that nothing waits for a server that does not answer
	all.Wait()
}

// parts are what a member does.
func (f *Fleet) parts() []func(ctx context.Context, l *link.Link) {
	jobs := f.Jobs
	if jobs == nil {
		jobs = func(context.Context, *link.Link) {}
	}
	server := &ask.Server{Handler: f.Handler, Caller: f.caller, Log: f.Log}
	return []func(ctx context.Context, l *link.Link){
		f.roster, f.follow,
		func(ctx context.Context, l *link.Link) { f.heart.Run(ctx, l, f.tell) },
		f.watchSleep,
		func(ctx context.Context, l *link.Link) {
			f.publisher.Run(ctx, l, func(err error) { f.warn("cannot show the others what runs here", err) })
		},
		func(ctx context.Context, l *link.Link) { f.warn("no requests of others are taken", server.Run(ctx, l)) },
		func(ctx context.Context, _ *link.Link) { f.passOn(ctx) },
		jobs,
	}
}

// watchSleep tells the others when this machine is about to sleep. Where it cannot find out, they learn it from the
// beats after the first time.
func (f *Fleet) watchSleep(ctx context.Context, l *link.Link) {
	err := beat.WatchSleep(ctx, func(sleeps bool) {
		f.warn("cannot tell the fleet that this machine sleeps", f.heart.Sleep(ctx, l, sleeps))
	})
	if err != nil {
		f.Log.Debug("the system does not tell when this machine is about to sleep", "error", err)
	}
}

// stopPatience is how long a daemon that was told to end tries to say so.
const stopPatience = 2 * time.Second

// sayStopped tells the others that this daemon was stopped: they wait for it, and do not take it for lost.
func (f *Fleet) sayStopped(l *link.Link) {
	if !l.Conn.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	f.warn("cannot tell the fleet that this daemon was stopped", f.heart.Stop(ctx, l))
}

func closeLink(l *link.Link) {
	_ = l.Close() // it only ends what waits
	l.Conn.Close()
}

// warn logs what went wrong, once: all of it is tried again and again.
func (f *Fleet) warn(what string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	f.mu.Lock()
	news := f.warned[what] != text
	f.warned[what] = text
	f.mu.Unlock()
	if news && err != nil {
		f.Log.Warn(what, "error", err)
	}
}

func (f *Fleet) set(l *link.Link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.link = l
	if l == nil {
		return
	}
	if f.observer == nil || f.me != l.Member || f.name != l.Fleet {
		f.observer = beat.NewObserver(l.Member, f.Now)
	}
	f.name, f.me = l.Fleet, l.Member
}

// tell takes what became of the last word to the fleet.
func (f *Fleet) tell(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.trouble = err; errors.Is(err, context.DeadlineExceeded) {
		f.trouble = errors.New("no hub answers")
	}
	if up := f.observer != nil && f.observer.Linked(); up != f.linked || f.since.IsZero() {
		f.linked, f.since = up, f.Now()
	}
}

// up is the link, while there is one and a server at its other end that takes our beats: one that does not answer
// looks connected for minutes.
func (f *Fleet) up() (l *link.Link, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	unheard, ever := f.heart.Unheard()
	return f.link, f.link != nil && f.link.Conn.IsConnected() && ever && unheard <= beat.UnheardAfter
}

// Observer tells how the other machines stand; nil before the first link.
func (f *Fleet) Observer() *beat.Observer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.observer
}

// Heart tells for how long the others have not heard of this machine.
func (f *Fleet) Heart() *beat.Heart { return f.heart }

// Me is this machine's name in its fleet; empty before the first link.
func (f *Fleet) Me() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.me
}

// OwnerChanged says that a pipeline or run of this machine has changed. It does not block.
func (f *Fleet) OwnerChanged(id string) { f.publisher.Changed(id) }

// beat is what this machine says about itself.
func (f *Fleet) beat() beat.Beat {
	b := beat.Beat{Version: f.Version, User: f.record(f.Me()).User, Room: -1}
	if f.Room != nil {
		b.Agents, b.Room = f.Room()
	}
	if f.Passed != nil {
		b.Passed = f.Passed()
	}
	here := f.Config().Fleet
	b.Labels = here.Labels
	for _, p := range here.Projects {
		b.Projects = append(b.Projects, p.Name)
	}
	return b
}

// members are the fleet's records, as far as they are known.
func (f *Fleet) members() []member.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.records
}

// record is that of a member; the zero one where there is none.
func (f *Fleet) record(name string) member.Record {
	all := f.members()
	if i := slices.IndexFunc(all, func(m member.Record) bool { return m.Name == name }); i >= 0 {
		return all[i]
	}
	return member.Record{}
}

// caller is the user of a member, and whether that one may do something here.
func (f *Fleet) caller(member string, right config.FleetRight) (user string, may bool) {
	user = f.record(member).User
	return user, ask.May(f.Config().Fleet.Allow, f.record(f.Me()).User, user, right)
}

// MayRun is why what a member signed is not to be run here; nil where it is.
func (f *Fleet) MayRun(member string, signed func(key string) error) error {
	user, may := f.caller(member, config.FleetRun)
	if !may {
		return fmt.Errorf("%s on %s may not run commands here (fleet.allow)", cmp.Or(user, "an unknown user"), member)
	}
	if key := f.record(member).Key; key != "" && signed(key) != nil {
		return fmt.Errorf("it was not added by %s, as it says", member)
	}
	return nil
}

// passOn tells the daemon that other machines show something else, four times a second at most: when everything
// is read from the beginning, thousands of views come at once.
func (f *Fleet) passOn(ctx context.Context) {
	for {
		select {
		case <-f.news:
		case <-ctx.Done():
			return
		}
		f.Changed()
		if pause.For(ctx, 250*time.Millisecond) != nil {
			return
		}
	}
}

func (f *Fleet) renewed() {
	nudge.Reader(f.news)
}
