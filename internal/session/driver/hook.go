package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/terminal"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// Call is a hook call that nobody objected to.
type Call struct {
	ID      string // of the call, in the journal
	Payload hook.Payload
	// OursBlocked means that a keeper of ours blocked this prompt before: then that is
	// why Claude Code says that a stop hook is active.
	OursBlocked bool
	// Held means that a person has to decide before anything goes on by itself: the session's
	// queue ends here.
	Held bool
}

// Report is what came of a call.
type Report struct {
	Effects []string        // for the journal
	Message string          // for the person; empty when there is nothing to tell
	Input   json.RawMessage // what a question's tool is to get, with its answers
	Typed   bool            // the prompt is one that we typed
}

func (r *Report) effect(format string, args ...any) {
	r.Effects = append(r.Effects, fmt.Sprintf(format, args...))
}

func (r *Report) tell(err error) {
	if r.Message != "" {
		r.Message += "\n"
	}
	r.Message += err.Error()
}

// hookPatience is how long a hook waits for a tmux that does not answer. Whoever types
// waits longer: nobody waits for them.
const hookPatience = 5 * time.Second

// Hook follows Claude Code, moves its queue on, and wakes its agent. Only interactive
// clients in tmux have any of these, and a subagent's events are not about the
// session.
func (d *Driver) Hook(ctx context.Context, call Call) (r Report) {
	if !concerns(call.Payload) || environ.Get(d.Environ, "CLAUDE_CODE_ENTRYPOINT") != "cli" || call.Payload.Common().AgentID != "" {
		return Report{}
	}
	pane, inTmux := terminal.FromEnviron(d.Environ)
	if !inTmux {
		return Report{}
	}

	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	instance, err := d.follow(ctx, pane, call.Payload)
	if err != nil {
		d.Log("%v", err)
	}
	if instance.Session == "" {
		return Report{}
	}

	s := &session{Driver: d, call: call, instance: instance, place: placeOf(pane), report: &r}
	if call.Payload.Event() == hook.SessionStart {
		s.examine()
	}
	s.advance(ctx)
	s.news()
	s.resend()
	return r
}

// examine tells a person, once a session, that the registry is at fault: whoever is not
// found in it is not woken, and nobody would know why.
func (s *session) examine() {
	if _, err := registry.Load(registry.Path(s.ConfigDir)); err != nil {
		s.report.tell(err)
	}
}

// concerns tells the events that say something about a session from the many that do
// not.
func concerns(payload hook.Payload) bool {
	switch p := payload.(type) {
	case *hook.StopPayload, *hook.StopFailurePayload, *hook.SessionStartPayload, *hook.SessionEndPayload,
		*hook.UserPromptSubmitPayload, *hook.NotificationPayload, *hook.PermissionRequestPayload:
		return true
	case *hook.PreCompactPayload:
		return p.Trigger == "manual"
	case *hook.PreToolUsePayload:
		return p.ToolName == askTool
	}
	return false
}

// follow keeps Claude Code's presence current. tmux is asked for the name of the
// session when a client starts; asking it at every call would double what a call
// costs.
func (d *Driver) follow(ctx context.Context, pane terminal.Pane, payload hook.Payload) (presence.Instance, error) {
	book := d.book()
	old, known := book.Load(pane.Server.Socket, pane.PID, pane.ID)
	instance := old
	if payload.Event() == hook.SessionStart || !known {
		name, err := pane.Session(ctx)
		if err != nil {
			return instance, fmt.Errorf("cannot ask tmux for the session of pane %s: %w", pane.ID, err)
		}
		instance.Session, instance.Socket, instance.PID, instance.Pane = name, pane.Server.Socket, pane.PID, pane.ID
	}
	instance = instance.After(payload, d.Now())
	if payload.Event() == hook.SessionStart {
		book.Sweep(d.Now())
		d.queues().Sweep(d.Now())
	}
	if instance == old {
		return instance, nil
	}
	return instance, book.Store(instance)
}

// session is a hook call of a client whose tmux session is known.
type session struct {
	*Driver
	call     Call
	instance presence.Instance
	place    queue.Place
	report   *Report
	queued   bool // the session has, or had until now, a queue
	ours     bool // and that is for this client
	sent     bool // there is something new in the outbox
}

// advance gives the event to the session's queue.
func (s *session) advance(ctx context.Context) {
	store := s.queues()
	event := queueEvent(s.call.Payload)
	if stop, is := event.(queue.Stop); is && s.call.Held {
		event = queue.Halted{Stop: stop, Why: "protected files were changed, and need your approval (stopgate approve)"}
	}
	if event == nil || !store.Exists(s.instance.Session) {
		return
	}

	s.queued = true
	apply := func(q queue.Queue) queue.Transition {
		if !q.At(s.place) {
			if !s.abandoned(ctx, q) {
				return queue.Transition{Queue: q, Action: queue.Ignored}
			}
			q = queue.Adopt(q, s.place, s.Now())
		}
		s.ours = true
		return queue.Apply(named(q, s.instance.Session, s.Now()), event, s.Now())
	}

	o, err := store.Change(s.instance.Session, apply, s.tellEnd)
	var corrupt *queue.CorruptError
	switch {
	case errors.Is(err, queue.ErrNone):
		s.queued = false // it ended while we looked
	case errors.As(err, &corrupt):
		s.report.tell(corrupt)
		s.report.effect("queue corrupt")
		s.noteSent(s.Driver.tellCorrupt(s.instance.Session, string(s.call.Payload.Event()), corrupt))
	case err != nil:
		s.report.tell(fmt.Errorf("the queue of session %s: %w", s.instance.Session, err))
	case o.Action != queue.Ignored:
		s.report.Typed = o.Action == queue.Delivered
		s.report.effect("queue %s %d/%d", o.Action, o.Queue.Completed(), len(o.Queue.Commands))
	}

	if _, ended := o.Ended(); err == nil && s.ours && !ended {
		s.ensureWatched()
	}
	if err == nil && o.Drive {
		if err := s.Drive(s.instance.Session); err != nil {
			s.report.tell(fmt.Errorf("cannot type the next command of session %s: %w", s.instance.Session, err))
		}
	}
}

// abandoned reports whether a queue is for a client that is gone, and this one was
// started in its stead, elsewhere in the session: then the queue is its own.
func (s *session) abandoned(ctx context.Context, q queue.Queue) bool {
	p, ok := s.call.Payload.(*hook.SessionStartPayload)
	if !ok || p.Source != "startup" && p.Source != "resume" {
		return false
	}
	place := *q.Stopgate.Place
	if instance, known := s.book().Load(place.Socket, place.PID, place.Pane); known && instance.State == presence.Ended {
		return true
	}
	_, err := s.paneAt(place).Session(ctx)
	return errors.Is(err, terminal.ErrNoPane)
}

// named gives a queue that was written by hand a name, by which what is told about it
// is known.
func named(q queue.Queue, session string, now time.Time) queue.Queue {
	if q.Stopgate == nil {
		q.Stopgate = &queue.Meta{}
	}
	meta := *q.Stopgate
	if meta.ID == "" {
		meta.ID = wake.Key("by hand", session, now.String())
	}
	if meta.Session == "" {
		meta.Session = session
	}
	q.Stopgate = &meta
	return q
}

// queueEvent is what a payload means to a queue; nil means nothing.
func queueEvent(payload hook.Payload) queue.Event {
	prompt := payload.Common().PromptID
	switch p := payload.(type) {
	case *hook.StopPayload:
		return queue.Stop{PromptID: prompt, Message: p.LastAssistantMessage}
	case *hook.StopFailurePayload:
		return queue.StopFailure{PromptID: prompt, Error: firstOf(p.LastAssistantMessage, p.Error)}
	case *hook.SessionStartPayload:
		return queue.SessionStart{Source: p.Source, ClaudeSession: p.SessionID}
	case *hook.SessionEndPayload:
		return queue.SessionEnd{Reason: p.Reason}
	case *hook.UserPromptSubmitPayload:
		return queue.Prompt{PromptID: prompt, Text: p.Prompt}
	case *hook.PreCompactPayload:
		return queue.PreCompact{PromptID: prompt}
	case *hook.NotificationPayload:
		if p.NotificationType == "idle_prompt" {
			return queue.Idle{PromptID: prompt}
		}
	}
	return nil
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// resend starts a sender when letters wait, not only for the new ones: the last
// sender may have been killed.
func (s *session) resend() {
	switch s.call.Payload.Event() {
	case hook.SessionStart, hook.Stop:
		s.sent = s.sent || s.outbox().Waiting()
	}
	if !s.sent {
		return
	}
	if err := s.Send(); err != nil {
		s.report.tell(fmt.Errorf("a message about session %s waits in the outbox: %w", s.instance.Session, err))
	}
}
