package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
)

// Order is a queue that somebody wants.
type Order struct {
	Session  string
	Commands []string
	// Replace ends the queue that the session has.
	Replace bool
	// Key is that of the message that the queue delivers, if it does.
	Key string
}

// RefusedError is an order that cannot be carried out as it is.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// Refused tells others that another try would be refused too.
func (e *RefusedError) Refused() bool { return true }

func refuse(format string, args ...any) error { return &RefusedError{fmt.Errorf(format, args...)} }

// Create gives a session a queue and types its first command, unless Claude Code is
// busy: then a hook will say when. It does not wait for the confirmation.
func (d *Driver) Create(ctx context.Context, o Order) (queue.Queue, error) {
	commands, err := d.check(o)
	if err != nil {
		return queue.Queue{}, err
	}
	place, err := d.prepare(ctx, o.Session)
	if err != nil {
		return queue.Queue{}, err
	}
	if o.Replace {
		if err := d.makeRoom(o.Session); err != nil {
			return queue.Queue{}, err
		}
	}
	q := queue.New(o.Session, d.newID(o.Session), commands, d.Now())
	q.Stopgate.Place, q.Stopgate.Key = &place, o.Key
	return q, d.start(ctx, o.Session, q)
}

// Retry goes on with a queue: it types the active command that waits, or makes a new
// queue of what the session's last one left undone.
func (d *Driver) Retry(ctx context.Context, session string) (queue.Queue, error) {
	if err := d.finish(session); err != nil {
		return queue.Queue{}, err
	}

	store := d.queues()
	if q, err := store.Load(session); err == nil {
		d.ensureWatched()
		return q, d.begin(ctx, session, true)
	} else if !errors.Is(err, queue.ErrNone) {
		return queue.Queue{}, err
	}

	last, err := store.Last(session)
	if err == nil {
		err = last.Err
	}
	if err != nil {
		return queue.Queue{}, err
	}

	left := last.Queue.Remaining()
	if len(left) == 0 {
		return queue.Queue{}, refuse("the last queue has no unfinished commands")
	}
	if _, err := d.check(Order{Session: session, Commands: left}); err != nil {
		return queue.Queue{}, err
	}

	place, err := d.prepare(ctx, session)
	if err != nil {
		return queue.Queue{}, err
	}
	q := queue.Again(last.Queue, d.newID(session), d.Now())
	q.Stopgate.Place, q.Stopgate.Session = &place, session
	return q, d.start(ctx, session, q)
}

// prepare finds the Claude Code of a session that is to have a queue, and gets what
// somebody left in the way of one.
func (d *Driver) prepare(ctx context.Context, session string) (queue.Place, error) {
	pane, err := d.find(ctx, session)
	if err != nil {
		return queue.Place{}, err
	}
	if pane, err = d.awaitClaude(ctx, session, pane); err != nil {
		return queue.Place{}, err
	}
	return placeOf(pane), d.finish(session)
}

// finish gives a queue that is at its end the name that goes with that, where somebody
// died before it was done.
func (d *Driver) finish(session string) error {
	_, err := d.apply(session, func(q queue.Queue) queue.Transition {
		if q.Stopgate == nil || q.Stopgate.Ending == nil {
			return queue.Transition{Queue: q, Action: queue.Ignored}
		}
		return queue.Transition{Queue: q, Action: queue.Finished}
	})
	return unlessGone(err)
}

// makeRoom ends the queue that a session has.
func (d *Driver) makeRoom(session string) error {
	_, err := d.Cancel(session, "a new queue")
	return unlessGone(err)
}

// unlessGone is nil where the error says that there is no queue, or no longer one.
func unlessGone(err error) error {
	var corrupt *queue.CorruptError
	if errors.Is(err, queue.ErrNone) || errors.As(err, &corrupt) {
		return nil
	}
	return err
}

// start writes a new queue down and begins with it.
func (d *Driver) start(ctx context.Context, session string, q queue.Queue) error {
	if err := d.queues().Create(session, q); err != nil {
		return err
	}
	d.ensureWatched() // before anything is typed: this process may be killed
	return d.begin(ctx, session, false)
}

// begin types the active command here, and leaves its confirmation to another process.
// Where such a process has begun with it, for a queue before this one, all of it is.
func (d *Driver) begin(ctx context.Context, session string, forced bool) error {
	release, err := d.turnToBegin(ctx, session)
	if err != nil || release == nil {
		return err
	}
	pressed, err := d.enter(ctx, session, forced)
	release()
	if err != nil || !pressed {
		return err
	}
	return d.Drive(session)
}

// enter types the active command and presses Enter, unless the queue has come to its end
// meanwhile. Whoever calls it has the turn.
func (d *Driver) enter(ctx context.Context, session string, forced bool) (pressed bool, err error) {
	t, err := d.typist(ctx, session)
	switch {
	case errors.Is(err, queue.ErrNone):
		return false, nil
	case err != nil:
		return false, err
	}
	return t.enter(forced)
}

// turnToBegin waits until nobody else delivers in a session, or somebody else has begun
// with its active command: then there is no turn to be had.
func (d *Driver) turnToBegin(ctx context.Context, session string) (release func(), err error) {
	for waited := time.Duration(0); ; waited += glance {
		release, err = lockfile.Acquire(ctx, d.queues().DriverLock(session), glance)
		switch {
		case !errors.Is(err, lockfile.ErrBusy) || waited >= turn:
			return release, err
		case d.begun(session):
			return nil, nil
		}
	}
}

// begun reports whether nothing waits to be typed into a session.
func (d *Driver) begun(session string) bool {
	q, err := d.queues().Load(session)
	if err != nil {
		return errors.Is(err, queue.ErrNone)
	}
	active := q.Active()
	return active == nil || active.Stopgate.State != queue.Waiting
}

// Cancel ends a session's queue, whose agent is told why.
func (d *Driver) Cancel(session, why string) (queue.Queue, error) {
	o, err := d.apply(session, func(q queue.Queue) queue.Transition {
		return queue.Apply(named(q, session, d.Now()), queue.Withdrawn{Why: why}, d.Now())
	})
	return o.Queue, err
}

// apply changes a session's queue outside any hook, and sends what there is to tell.
func (d *Driver) apply(session string, change func(queue.Queue) queue.Transition) (queue.Transition, error) {
	sent := wake.Kind("")
	o, err := d.queues().Change(session, change, func(o queue.Transition, path string) (err error) {
		sent, err = d.tellEnd(session, "", o, path)
		return err
	})
	if corrupt, ok := errors.AsType[*queue.CorruptError](err); ok {
		sent = d.tellCorrupt(session, "", corrupt)
	}
	if sent != "" {
		if err := d.Send(); err != nil {
			d.Log("a message about the queue of session %s waits in the outbox: %v", session, err)
		}
	}
	return o, err
}

// check refuses what cannot be typed, or may not.
func (d *Driver) check(o Order) ([]string, error) {
	if strings.TrimSpace(o.Session) == "" {
		return nil, refuse("the name of the session is empty")
	}
	if len(o.Commands) == 0 {
		return nil, refuse("the queue has no commands")
	}

	reg := d.registry()
	if reg.Unread() {
		return nil, refuse("the registry is invalid, so it is not known which commands are allowed; see: stopgate registry check")
	}

	outside, _ := reg.Find(o.Session)
	commands := make([]string, len(o.Commands))
	for i, text := range o.Commands {
		if err := terminal.Check(text); err != nil {
			return nil, refuse("command %d: %w", i+1, err)
		}
		if slash := strings.TrimSpace(text); strings.HasPrefix(slash, "/") {
			text = slash // Claude Code differs by version about spaces before it
		}
		if !outside.Permits(text) && o.Key == "" { // a message is nobody's command
			return nil, refuse("the registry does not allow command %d in session %s: %.80s", i+1, o.Session, text)
		}
		commands[i] = text
	}
	return commands, nil
}

// find is the pane of a session's client: the one whose hooks told of it, else the
// only one there is.
func (d *Driver) find(ctx context.Context, session string) (terminal.Pane, error) {
	for _, instance := range d.book().Find(session) {
		pane := d.paneAt(queue.Place{Socket: instance.Socket, PID: instance.PID, Pane: instance.Pane})
		if name, err := pane.Session(ctx); err == nil && name == session && instance.State != presence.Ended {
			return pane, nil
		}
	}
	panes, err := terminal.Server{Environ: d.Environ}.Panes(ctx, session)
	switch {
	case err != nil:
		return terminal.Pane{}, fmt.Errorf("session %s: %w", session, err)
	case len(panes) > 1:
		return terminal.Pane{}, fmt.Errorf("session %s has %d panes, and Claude Code has not called a hook from any of them", session, len(panes))
	}
	return panes[0], nil
}

// ErrNoClaude is that of a pane in which something else runs.
var ErrNoClaude = errors.New("does not run Claude Code")

// awaitClaude waits for a client that has not told of itself: it may be just starting,
// and a queue that is there before its first hook would be taken for a leftover. A pane
// without a client is refused. The pane that it gives is Claude Code's own word for it.
func (d *Driver) awaitClaude(ctx context.Context, session string, pane terminal.Pane) (terminal.Pane, error) {
	screen, err := d.patterns()
	if err != nil {
		return pane, err
	}

	t := &typist{Driver: d, ctx: ctx, pace: d.pace(), pane: pane, screen: screen}
	var instance presence.Instance
	there := func() bool {
		instance, _ = d.instanceIn(pane)
		return instance.Pane != ""
	}

	view, err := t.await(t.pace.Start, func(v terminal.View) bool { return there() || v.State != terminal.NoPrompt })
	if err == nil && !there() && view.State == terminal.NoPrompt {
		err = fmt.Errorf("session %s %w (pane %s)", session, ErrNoClaude, pane.ID)
	}
	if err == nil && !there() {
		_, err = t.await(t.pace.Report, func(terminal.View) bool { return there() })
	}
	if err != nil || instance.Pane == "" {
		return pane, err
	}

	pane.Server.Socket = instance.Socket
	if instance.Session == session {
		return pane, nil
	}
	instance.Session = session // somebody renamed it, of which hooks do not tell
	return pane, d.book().Store(instance)
}

// instanceIn is the Claude Code that told of itself from a pane. A pane's server may be known
// by another name of its socket.
func (d *Driver) instanceIn(pane terminal.Pane) (presence.Instance, bool) {
	for _, instance := range d.book().All() {
		if instance.PID == pane.PID && instance.Pane == pane.ID && instance.State != presence.Ended {
			return instance, true
		}
	}
	return presence.Instance{}, false
}

func (d *Driver) newID(session string) string { return wake.Key("queue", session, d.Now().String()) }
