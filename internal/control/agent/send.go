package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/effect"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/session/driver"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/process"
)

const (
	// lookEvery lies between two looks at what has become of a message.
	lookEvery = 250 * time.Millisecond
	// driveEvery is after how long somebody sees again to a message that was typed and is
	// not confirmed: whoever typed it may have been killed.
	driveEvery = 20 * time.Second
	// watchEvery lies between two looks at a client that a message waits for: a person who
	// interrupts it is told of by no hook.
	watchEvery = 3 * time.Second
	// dialogLooks is how many looks in a row find a dialog that no hook told of, before it
	// is in the way; textLooks, a text in the input box, which somebody may still be typing.
	dialogLooks = 10
	textLooks   = 100
	// firstPrompt is how long a client may take from its start to the prompt that it was
	// started with. What is typed before that would be taken for a person's.
	firstPrompt = 10 * time.Second
)

// Send types a text into Claude Code, when that is free, and returns when its hook has
// confirmed it. The message is a queue of one command: what moves queues on, moves it on
// when the daemon is gone. What is taken back because nobody wants it any more has failed:
// whoever said it was told that it would arrive.
func (c Terminals) Send(ctx context.Context, agent, key, text string) error {
	m, err := c.message(agent, key, text)
	if err != nil {
		return err
	}
	err = m.deliver(ctx)
	if err != nil && errors.Is(context.Cause(ctx), effect.ErrUnwanted) {
		return m.withdraw()
	}
	return err
}

// withdraw takes the message back, and says what has become of it.
func (m *message) withdraw() error {
	m.takeBack()
	q, found := m.queues.Find(m.session, m.key)
	if !found || len(q.Commands) == 0 {
		if m.made {
			return &effect.Lost{Why: "its queue file is gone"}
		}
		return &errand.Failure{Why: takenBack}
	}
	settled, err := deliveryOf(q)
	var failure *errand.Failure
	switch {
	case !settled:
		return &effect.Lost{Why: "it could not be withdrawn"}
	case errors.As(err, &failure):
		return &errand.Failure{Why: takenBack}
	}
	return err
}

const takenBack = "it was withdrawn"

// message is one message to a client.
type message struct {
	driver  *driver.Driver
	queues  queue.Store
	book    presence.Book
	own     agentdir.Dir
	errand  string // Claude Code's directory
	session string
	key     string
	text    string
	made    bool           // its queue was there
	driven  time.Time      // when somebody saw to it last
	hiding  terminal.State // what was in the way at the last look
	hidden  int            // for how many looks, since no hook told of it
}

func (c Terminals) message(agent, key, text string) (*message, error) {
	dir, err := c.Errands.Dir(agent)
	if err != nil {
		return nil, err
	}
	own, err := c.Errands.Own(agent)
	if err != nil {
		return nil, err
	}

	at, err := own.Terminal()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notRunning()
	}
	if err != nil {
		return nil, err
	}

	if ends(text) {
		return nil, &errand.Failure{Why: fmt.Sprintf("Claude Code would exit on %q", strings.TrimSpace(text))}
	}
	return &message{
		driver: c.driver(), queues: queue.NewStore(c.Errands.StateDir), book: presence.NewBook(c.Errands.StateDir),
		own: own, errand: dir, session: at.Session, key: key, text: text,
	}, nil
}

func notRunning() error { return &errand.Failure{Why: "the agent is not running"} }

// ends reports whether Claude Code ends when it is given a text.
func ends(text string) bool {
	return slices.Contains([]string{"exit", "quit", ":q", ":q!", ":wq", ":wq!"}, strings.TrimSpace(text))
}

// driver types for the daemon. The server that it looks for sessions on is ours.
func (c Terminals) driver() *driver.Driver {
	e := c.Errands
	d := &driver.Driver{
		StateDir: e.StateDir, ConfigDir: filepath.Dir(c.Config), Now: c.Now, Log: c.Log,
		Environ: append(slices.Clone(e.Environ), "TMUX="+Socket(e.StateDir)+",0,0"),
		Drive: func(session string) error {
			return driver.Start(process.Detach, e.StateDir, e.Env(nil), e.Program, session)
		},
		Send: func() error { return nil }, // a hook that finds letters sends them
	}
	d.Watched(e.Program, e.Env(nil))
	if global, err := config.LoadGlobal(c.Config); err == nil {
		d.Screen = global.Terminal
	}
	return d
}

// deliver waits for the end of the message, and does for it what nobody else does.
func (m *message) deliver(ctx context.Context) error {
	_, m.made = m.queues.Find(m.session, m.key)
	for {
		if !m.made {
			created, err := m.create(ctx)
			if err != nil {
				return err
			}
			m.made = created
		}
		if m.made {
			if done, err := m.look(ctx); done || err != nil {
				return err
			}
		}
		if pause.For(ctx, lookEvery) != nil {
			return context.Cause(ctx)
		}
	}
}

// create makes the message's queue. A client that was not heard of yet is waited for, and
// so is the end of what it was told before by us.
func (m *message) create(ctx context.Context) (created bool, err error) {
	if !errand.Runs(m.errand) {
		return false, notRunning()
	}
	if instance := m.book.Find(m.session); len(instance) == 0 || instance[0].State == presence.Free && m.early() {
		return false, nil
	}
	if q, err := m.queues.Load(m.session); err == nil {
		if q.Stopgate == nil || q.Stopgate.Key == "" {
			return false, fmt.Errorf("session %s already has a queue", m.session)
		}
		m.makeRoom(ctx)
		return false, nil
	}

	_, err = m.driver.Create(ctx, driver.Order{Session: m.session, Commands: []string{m.text}, Key: m.key})
	m.driven = time.Now()
	var refused *driver.RefusedError
	switch _, there := m.queues.Find(m.session, m.key); {
	case there:
		return true, nil // whatever went wrong with the typing, it is seen to again
	case errors.As(err, &refused):
		return false, &errand.Failure{Why: refused.Error()}
	case err == nil:
		return false, &effect.Lost{Why: "its queue file is gone"}
	}
	return false, err
}

// makeRoom ends the queue of the message before, where Claude Code has got that and was
// interrupted: its stop will not come.
func (m *message) makeRoom(ctx context.Context) {
	if time.Since(m.driven) < watchEvery {
		return
	}
	m.driven = time.Now()
	m.log(m.driver.GiveUp(ctx, m.session))
}

// log tells of what went wrong with the session's queue, unless that is that there is none.
func (m *message) log(err error) {
	if err != nil && !errors.Is(err, queue.ErrNone) {
		m.driver.Log("session %s: %v", m.session, err)
	}
}

// early reports whether Claude Code may not have begun yet with what it was started with.
func (m *message) early() bool {
	prompt, err := os.Stat(m.own.Path("prompt.md"))
	if err != nil || prompt.Size() == 0 || time.Since(prompt.ModTime()) > firstPrompt {
		return false
	}
	_, err = m.own.Last()
	return err != nil // it has never ended a turn
}

// look finds out whether the message has arrived, or never will.
func (m *message) look(ctx context.Context) (done bool, err error) {
	q, found := m.queues.Find(m.session, m.key)
	if !found || len(q.Commands) == 0 {
		return true, &effect.Lost{Why: "its queue file is gone"}
	}
	if settled, err := deliveryOf(q); settled {
		return true, err
	}

	state := q.Commands[0].Stopgate.State
	if !errand.Runs(m.errand) {
		m.takeBack()
		if state == queue.Entered {
			return true, &effect.Lost{Why: "Claude Code ended before it confirmed the message"}
		}
		return true, notRunning()
	}

	every := driveEvery
	if state == queue.Waiting {
		every = watchEvery
	}
	if time.Since(m.driven) < every {
		return false, nil
	}

	m.driven = time.Now()
	if state == queue.Waiting {
		if view := m.screen(ctx, q); view.State != terminal.Ready && !view.Holds(m.text) {
			return m.held(view.State)
		}
		m.hidden = 0
	}
	m.log(m.driver.Deliver(ctx, m.session))
	return false, nil
}

// deliveryOf is what has become of a message by its queue, once that is settled. Without an
// error it has arrived.
func deliveryOf(q queue.Queue) (settled bool, err error) {
	c := q.Commands[0]
	if c.Status == queue.Done || c.Confirmed() {
		return true, nil
	}
	if q.Stopgate.Ending == nil {
		return false, nil
	}
	why := reason(*q.Stopgate.Ending, c)
	if c.Stopgate.State == queue.Entered {
		return true, &effect.Lost{Why: why}
	}
	return true, &errand.Failure{Why: why}
}

func reason(e queue.Ending, c queue.Command) string {
	switch {
	case e.Kind == queue.Broken && c.Stopgate.Why != "":
		return c.Stopgate.Why
	case e.Kind == queue.Cancel && e.Why == "manual input":
		return "something else was typed into Claude Code first"
	case e.Kind == queue.Cancel && e.Why == claudeEnd:
		return "Claude Code ended first"
	case e.Kind == queue.Cancel:
		return "it was cancelled by " + e.Why
	case e.Kind == queue.Stale:
		return "Claude Code was restarted"
	}
	return e.Why
}

// held is what becomes of a message that cannot be typed now: a hook will say when it can.
// But no hook tells of the end of a dialog that Claude Code has opened by itself, or a
// person, nor of a text that somebody has left in the input box: that is for a person.
func (m *message) held(in terminal.State) (done bool, err error) {
	state := presence.Free
	if instances := m.book.Find(m.session); len(instances) > 0 {
		state = instances[0].State
	}
	if in != m.hiding {
		m.hidden, m.hiding = 0, in
	}

	most, why := 0, ""
	switch {
	case in == terminal.Dialog && state != presence.Asking:
		most, why = dialogLooks, "a dialog is open in its terminal, and typed text would answer it; answer it first: stopgate agent attach"
	case in == terminal.Occupied && state == presence.Free:
		most, why = textLooks, "its input box already contains text; send or delete it first: stopgate agent attach"
	default:
		m.hidden = 0
		return false, nil
	}

	if m.hidden++; m.hidden < most {
		return false, nil
	}
	m.takeBack()
	return true, &errand.Failure{Why: why}
}

// screen is what is to be seen of Claude Code now.
func (m *message) screen(ctx context.Context, q queue.Queue) terminal.View {
	patterns, err := terminal.NewPatterns(m.driver.Screen.Prompt, m.driver.Screen.Dialog)
	if err != nil || q.Stopgate.Place == nil {
		return terminal.View{}
	}
	at := *q.Stopgate.Place
	pane := terminal.Pane{Server: terminal.Server{Socket: at.Socket, Environ: m.driver.Environ}, PID: at.PID, ID: at.Pane}
	captured, err := pane.Capture(ctx)
	if err != nil {
		return terminal.View{}
	}
	return patterns.Look(captured)
}

// takeBack ends the queue of a message that nobody wants to arrive any more.
func (m *message) takeBack() {
	q, err := m.queues.Load(m.session)
	if err != nil || q.Stopgate == nil || q.Stopgate.Key != m.key || q.Commands[0].Confirmed() {
		return
	}
	_, err = m.driver.Cancel(m.session, "the daemon")
	m.log(err)
}

// claudeEnd is why a queue ended with its Claude Code process.
const claudeEnd = "the end of Claude Code"

// endQueue ends the queue of an agent that has ended: no hook will move it on. It notifies
// nobody, because the daemon already knows that the agent has ended.
func (c Terminals) endQueue(agent string) {
	at, err := c.terminal(agent)
	queues := queue.NewStore(c.Errands.StateDir)
	if err != nil || !queues.Exists(at.Session) {
		return
	}
	_, err = queues.Change(at.Session, func(q queue.Queue) queue.Transition {
		return queue.Apply(q, queue.Withdrawn{Why: claudeEnd}, c.Now())
	}, func(queue.Transition, string) error { return nil })
	if err != nil && !errors.Is(err, queue.ErrNone) {
		c.Log("session %s: cannot end its queue: %v", at.Session, err)
	}
}
