package driver

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/internal/sys/pause"
)

// Pace is how long the steps of a delivery take.
type Pace struct {
	Ready   time.Duration // the longest wait for an empty input box
	Settle  time.Duration // the pause between the text and Enter
	Confirm time.Duration // the wait for a hook after the first Enter
	Last    time.Duration // and after the second
	Start   time.Duration // the longest wait for a client that is just starting
	Report  time.Duration // the wait for the first hook of one whose input box is there
	Still   time.Duration // how long the screen of one that works never stays the same; 0: it may

	// Of the process that watches over the queues:
	Look    time.Duration // the pause between two looks at a client
	Free    time.Duration // how long a client is free before what waits for it is typed
	Dropped time.Duration // how long it is free before the command that it had counts as interrupted
	Stuck   time.Duration // how long a queue stands still while its client does not work
	Guard   time.Duration // after how long tmux starts another one, in case this one is killed
}

// measured is what a client needs, with room for a machine that is busy. The settling
// is needed: without it Claude Code takes Enter for a part of the paste.
var measured = Pace{
	Ready: 5 * time.Second, Settle: 300 * time.Millisecond, Confirm: 3 * time.Second, Last: 12 * time.Second,
	Start: 10 * time.Second, Report: 2 * time.Second, Still: 3 * time.Second,
	// What can go on does within a minute, and what cannot is told within ten. A client looks idle
	// while hooks of others judge a prompt, for which they have 30 seconds.
	Look: 5 * time.Second, Free: 5 * time.Second, Dropped: 40 * time.Second, Stuck: 9 * time.Minute, Guard: 30 * time.Second,
}

// pace is how long things take.
func (d *Driver) pace() Pace {
	if d.Pace == (Pace{}) {
		return measured
	}
	return d.Pace
}

const (
	// glance lies between two looks at a screen or a file.
	glance = 50 * time.Millisecond
	// turn is the longest wait for whoever else delivers: a bit more than a delivery
	// takes.
	turn = time.Minute
)

// Deliver types the active command of a session and waits until Claude Code confirms
// it. Whatever it may not do it leaves to the hook that says that it may, and whatever
// fails is told to the session's agent. One at a time delivers, and goes on from where
// the last one was, if that was killed.
func (d *Driver) Deliver(ctx context.Context, session string) error {
	release, err := lockfile.Acquire(ctx, d.queues().DriverLock(session), turn)
	if err != nil {
		return err
	}
	defer release()
	t, err := d.typist(ctx, session)
	if err != nil {
		return err
	}
	if pressed, err := t.enter(false); err != nil || !pressed {
		return err
	}
	return t.confirm()
}

// GiveUp ends the queue of a session whose client has the active command and does nothing
// about it any more: a person who interrupts it fires no hook. That is seen as Deliver sees
// it. While Claude Code works, or asks something, the queue stays.
func (d *Driver) GiveUp(ctx context.Context, session string) error {
	release, err := lockfile.Acquire(ctx, d.queues().DriverLock(session), turn)
	if err != nil {
		return err
	}
	defer release()

	q, err := d.queues().Load(session)
	active := q.Active()
	if err != nil || active == nil || !active.Confirmed() {
		return err
	}

	t := &typist{Driver: d, ctx: ctx, session: session, pace: d.pace()}
	if t.pane, err = t.find(q); err != nil {
		return err
	}
	if t.screen, err = d.patterns(); err != nil || !t.still() {
		return err
	}

	_, err = d.apply(session, func(now queue.Queue) queue.Transition {
		if a := now.Active(); now.ID() != q.ID() || a == nil || a.ID != active.ID {
			return queue.Transition{Queue: now, Action: queue.Ignored} // its stop has come
		}
		return queue.Apply(named(now, session, d.Now()), queue.Withdrawn{Why: "an interrupt in Claude Code"}, d.Now())
	})
	return err
}

// typist delivers the active command of one session.
type typist struct {
	*Driver
	ctx     context.Context
	session string
	pace    Pace
	screen  terminal.Patterns
	pane    terminal.Pane
	queue   string // its id
	keyed   bool   // it delivers a message of ours
	id      int    // of the command
	text    string // of the command
	state   queue.DeliveryState
	enters  int // how often Enter was pressed
}

// typist is for the session's active command. Whoever has one has the turn.
func (d *Driver) typist(ctx context.Context, session string) (*typist, error) {
	t := &typist{Driver: d, ctx: ctx, session: session, pace: d.pace()}
	return t, t.load()
}

func (t *typist) load() error {
	q, err := t.queues().Load(t.session)
	if err != nil {
		return err
	}
	active := q.Active()
	if active == nil || active.Confirmed() {
		t.state = queue.Confirmed
		return nil
	}
	t.queue, t.keyed = q.ID(), q.Stopgate != nil && q.Stopgate.Key != ""
	t.id, t.text, t.state, t.enters = active.ID, active.Command, active.Stopgate.State, active.Stopgate.Enters
	if t.pane, err = t.find(q); err != nil {
		return err
	}
	t.screen, err = t.patterns()
	return err
}

// find is the pane of a queue. One that was written by hand does not name it.
func (t *typist) find(q queue.Queue) (terminal.Pane, error) {
	if q.Stopgate != nil && q.Stopgate.Place != nil {
		return t.paneAt(*q.Stopgate.Place), nil
	}
	return t.Driver.find(t.ctx, t.session)
}

// enter brings the command into the pane and presses Enter, as far as that has not
// been done. It reports whether Enter has been pressed, and is to be confirmed.
// Forced, it does not believe that Claude Code is busy.
func (t *typist) enter(forced bool) (pressed bool, err error) {
	switch t.state {
	case queue.Waiting:
		return t.begin(forced)
	case queue.Typing:
		// Whoever typed it was killed, and may have pasted none of it, or all.
		view, err := t.await(t.pace.Confirm, func(v terminal.View) bool { return v.Shows(t.text) })
		if err != nil || !view.Shows(t.text) {
			return false, t.undelivered("the process that typed it was killed, and it is not in the input box", err)
		}
		return t.press(t.look())
	case queue.Entered:
		return true, nil
	}
	return false, nil
}

// begin types a command that nobody has begun with.
func (t *typist) begin(forced bool) (pressed bool, err error) {
	leave, err := t.seat()
	if err != nil {
		return false, err
	}
	defer leave()

	if busy := t.occupied(); busy != "" && !forced {
		return false, t.change(queue.Held{ID: t.id, Why: busy})
	}
	view, err := t.await(t.pace.Ready, func(v terminal.View) bool { return v.State == terminal.Ready || t.isThere(v) })
	if err != nil {
		return false, t.undelivered("", err)
	}

	if t.isThere(view) {
		if begun, err := t.step(queue.Begun{ID: t.id}); err != nil || !begun {
			return false, err
		}
		return t.press(view, nil)
	}

	if view.State != terminal.Ready && forced {
		return false, refuse("nothing can be typed into session %s now: %s", t.session, view.State) // whoever forces it sees that, and it costs no try
	}
	if view.State != terminal.Ready {
		return false, t.change(queue.NotReady{ID: t.id, Why: view.State.String()})
	}

	if begun, err := t.step(queue.Begun{ID: t.id}); err != nil || !begun {
		return false, err
	}
	if err := t.pane.Paste(t.ctx, typed(t.text)); err != nil {
		return false, t.undelivered("", err)
	}
	t.wait(t.pace.Settle)

	// A long text takes its time to show, and so does any with a client that hangs. Enter
	// before that would become a part of the text.
	view, err = t.await(t.pace.Last, func(v terminal.View) bool { return v.State != terminal.Ready })
	switch {
	case err != nil:
		return false, t.undelivered("", err)
	case view.State == terminal.Ready:
		return false, t.undelivered("it did not appear in the input box", nil)
	}
	return t.press(view, nil)
}

// isThere reports whether a message of ours is in the input box already: somebody who typed it
// came to grief before Enter.
func (t *typist) isThere(v terminal.View) bool { return t.keyed && v.Holds(t.text) }

// typed is a text as it must be typed to arrive as it is. Claude Code runs what begins
// with an exclamation mark in a shell. At the end it takes a backslash for the wish
// for a new line, and completes the name of a file. A space is in the way of all that.
func typed(text string) string {
	if strings.HasPrefix(text, "!") {
		text = " " + text
	}
	if last := text[strings.LastIndexAny(text, " \t\n")+1:]; strings.HasSuffix(text, `\`) || strings.Contains(last, "@") {
		text += " "
	}
	return text
}

// press presses Enter, but only in an input box: in a dialog it would be an answer,
// and where Claude Code has ended it would run the text in a shell.
func (t *typist) press(view terminal.View, err error) (pressed bool, _ error) {
	switch {
	case err != nil:
		return false, t.undelivered("", err)
	case view.State == terminal.Dialog || view.State == terminal.NoPrompt:
		return false, t.undelivered("Enter was not pressed: "+view.State.String(), nil)
	}
	if counted, err := t.step(queue.Pressed{ID: t.id}); err != nil || !counted {
		return false, err
	}
	if err := t.pane.Enter(t.ctx); err != nil {
		return false, t.undelivered("", err)
	}
	t.enters++
	return true, nil
}

// confirm waits for the hook that says that the command has arrived. Without one, and
// while the text is still in the input box, it presses Enter once more, and then no more.
func (t *typist) confirm() error {
	const unconfirmed = "no hook of Claude Code confirmed it"
	if t.enters < queue.MaxEnters {
		if t.confirmed(t.pace.Confirm) {
			return nil
		}
		view, err := t.look()
		if err != nil {
			return t.undelivered(unconfirmed, err)
		}
		if view.Shows(t.text) {
			if pressed, err := t.press(view, nil); err != nil || !pressed {
				return err
			}
		}
	}
	if t.confirmed(t.pace.Last) {
		return nil
	}
	return t.undelivered(unconfirmed, nil)
}

// confirmed waits until Claude Code has confirmed the command, or the queue is past it.
func (t *typist) confirmed(patience time.Duration) bool {
	var seen os.FileInfo
	for waited := time.Duration(0); ; waited += glance {
		info, err := os.Stat(t.queues().Path(t.session))
		if err != nil || seen == nil || !same(info, seen) {
			seen = info
			if t.past() {
				return true
			}
		}
		if waited >= patience || !t.wait(glance) {
			return false
		}
	}
}

// same reports whether a file has not been replaced. A new file may get the number of
// the one before the last.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

func (t *typist) past() bool {
	q, err := t.queues().Load(t.session)
	if err != nil {
		return errors.Is(err, queue.ErrNone)
	}
	active := q.Active()
	return active == nil || active.ID != t.id || active.Confirmed() || q.ID() != t.queue
}

// reported is what Claude Code's hooks told last that it does; "" where none has told anything.
func (t *typist) reported() presence.State {
	instance, known := t.book().Load(t.pane.Server.Socket, t.pane.PID, t.pane.ID)
	if !known {
		return ""
	}
	return instance.State
}

// busy says why Claude Code takes no prompt now, by what its hooks told.
func (t *typist) busy() string {
	switch t.reported() {
	case presence.Busy:
		return "Claude Code is busy"
	case presence.Asking:
		return "Claude Code waits for an answer"
	case presence.Ended:
		return "Claude Code has ended"
	}
	return ""
}

// occupied says why Claude Code takes no prompt now, by what its hooks told and what it
// shows.
func (t *typist) occupied() string {
	busy := t.busy()
	switch {
	case busy == "" && t.goesOn():
		return "Claude Code is busy"
	case busy != "" && t.still():
		return ""
	}
	return busy
}

// goesOn reports whether Claude Code works although its hooks told that it is done. It
// takes a moment to show that it is. But it may also have begun with what a person typed
// while it worked, of which not every version tells a hook then.
func (t *typist) goesOn() bool {
	last, moves := "", false
	for waited := time.Duration(0); waited < t.pace.Still; waited += glance {
		now, err := t.pane.Capture(t.ctx)
		if works, _ := t.screen.Works(now); err != nil || !works || !t.wait(glance) {
			return false
		}
		moves = moves || last != "" && now != last
		last = now
	}
	return moves
}

// still reports whether Claude Code waits for input although no hook told that it is
// done: a person who interrupts it fires none. A client that works shows that, or at
// least moves something on its screen.
func (t *typist) still() bool {
	last := ""
	for waited := time.Duration(0); waited < t.pace.Still; waited += glance {
		now, err := t.pane.Capture(t.ctx)
		if err != nil || t.screen.Look(now).State != terminal.Ready {
			return false
		}
		works, known := t.screen.Works(now)
		if works || !known && last != "" && now != last || !t.wait(glance) {
			return false
		}
		last = now
	}
	return t.pace.Still > 0
}

// await looks at the pane until it is as it should be, or patience is over.
func (t *typist) await(patience time.Duration, fits func(terminal.View) bool) (terminal.View, error) {
	for waited := time.Duration(0); ; waited += glance {
		view, err := t.look()
		if err != nil || fits(view) || waited >= patience || !t.wait(glance) {
			return view, err
		}
	}
}

func (t *typist) look() (terminal.View, error) {
	captured, err := t.pane.Capture(t.ctx)
	if err != nil {
		return terminal.View{}, err
	}
	return t.screen.Look(captured), nil
}

// wait reports whether the time passed.
func (t *typist) wait(d time.Duration) bool { return pause.For(t.ctx, d) == nil }

// step writes a step down, and reports whether it is still to be done.
func (t *typist) step(e queue.Event) (ours bool, err error) {
	o, err := t.apply(e)
	if errors.Is(err, queue.ErrNone) {
		return false, nil // somebody ended the queue
	}
	return o.Action == queue.Moved, err
}

func (t *typist) change(e queue.Event) error {
	_, err := t.step(e)
	return err
}

// undelivered gives the command up. The first error that is not nil says why.
func (t *typist) undelivered(why string, err error) error {
	if t.ctx.Err() != nil {
		return t.ctx.Err() // somebody ended us: the next one goes on
	}
	if err != nil {
		why = err.Error()
	}
	return t.change(queue.Undelivered{ID: t.id, Why: why})
}

// apply gives the queue an event, and the agent the news if that ends it.
func (t *typist) apply(e queue.Event) (queue.Transition, error) {
	return t.Driver.apply(t.session, func(q queue.Queue) queue.Transition {
		if q.ID() != t.queue {
			return queue.Transition{Queue: q, Action: queue.Ignored} // another one took its place
		}
		return queue.Apply(named(q, t.session, t.Now()), e, t.Now())
	})
}

// seats is how many type at once. A tmux server does one thing after the other, and
// more than 128 that knock at the same time keep each other out for many seconds.
const seats = 32

// seat waits until few enough others type. Who shares a seat is left to chance.
func (t *typist) seat() (leave func(), err error) {
	sum := sha256.Sum256([]byte(t.session))
	path := filepath.Join(t.StateDir, "seats", strconv.Itoa(int(sum[0])%seats)+".lock")
	for waited := time.Duration(0); ; waited += glance {
		leave, err = lockfile.Acquire(t.ctx, path, 0)
		if !errors.Is(err, lockfile.ErrBusy) || waited >= 5*turn || !t.wait(glance) {
			return leave, err
		}
	}
}
