package driver

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/registry"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/session/wake"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// askTool is Claude Code's tool that asks a person questions with answers to choose
// from.
const askTool = "AskUserQuestion"

// news tells the session's agent what is new, apart from its queue.
func (s *session) news() {
	switch p := s.call.Payload.(type) {
	case *hook.StopPayload:
		s.stopped(p)
	case *hook.StopFailurePayload:
		if !s.queued {
			s.wake(wake.Letter{Kind: wake.StopFailure, Error: firstOf(p.LastAssistantMessage, p.Error)}, p.SessionID, p.PromptID)
		}
	case *hook.NotificationPayload:
		s.notified(p)
	case *hook.SessionEndPayload:
		if s.ours && s.instance.State == presence.Ended {
			s.wake(wake.Letter{Kind: wake.SessionEnd}, p.SessionID, s.instance.Since.Format(time.RFC3339Nano))
		}
	case *hook.PreToolUsePayload:
		s.asked(p)
	}
}

// stopped wakes for a stop that nothing was waiting for. A stop hook that is active
// keeps that back, except when it was a keeper of ours that blocked: then this stop
// is the first that counts.
func (s *session) stopped(p *hook.StopPayload) {
	message := p.LastAssistantMessage
	if s.queued || strings.TrimSpace(message) == "" || p.StopHookActive && !s.call.OursBlocked {
		return
	}
	turn := p.PromptID
	if turn == "" {
		turn = s.call.ID // clients before prompt ids
	}
	s.wake(wake.Letter{Kind: wake.Stop, LastAssistantMessage: &message}, p.SessionID, turn, message)
}

func (s *session) notified(p *hook.NotificationPayload) {
	switch p.NotificationType {
	case "idle_prompt":
		if !s.queued && !s.instance.ToldOf(p.PromptID) {
			s.wake(wake.Letter{Kind: wake.Idle, Notice: p.Message}, p.SessionID, p.PromptID)
		}
	case "permission_prompt", "agent_needs_input":
		s.wake(wake.Letter{Kind: wake.Permission, Notice: p.Message}, p.SessionID, p.PromptID, s.instance.Since.Format(time.RFC3339Nano))
	}
}

// asked answers Claude Code's questions by the rules of the session's agent, or tells
// the agent that a person has to.
func (s *session) asked(p *hook.PreToolUsePayload) {
	outside, found := s.registry().Find(s.instance.Session)
	if !found {
		return
	}
	if input, ok := outside.Answer(p.ToolInput); ok {
		s.report.Input = input
		s.report.effect("question answered by rule")
		return
	}
	s.wakeOutside(outside, wake.Letter{Kind: wake.Question, Questions: p.ToolInput}, p.SessionID, p.PromptID, p.ToolUseID)
}

// wake puts a letter to the session's agent into the outbox. The same news has the
// same key, whoever tells it.
func (s *session) wake(l wake.Letter, news ...string) {
	if outside, found := s.registry().Find(s.instance.Session); found {
		s.wakeOutside(outside, l, news...)
	}
}

func (s *session) wakeOutside(outside registry.OutsideAgent, l wake.Letter, news ...string) {
	if !outside.Wakes(string(l.Kind)) {
		return
	}
	l.Event, l.Session = string(s.call.Payload.Event()), s.instance.Session
	if err := s.post(outside, l, news...); err != nil {
		s.report.tell(fmt.Errorf("cannot notify %s: %w", outside.AgentID, err))
		return
	}
	s.sent = true
	s.report.effect("wake %s %s", l.Kind, outside.AgentID)
	s.knows(l.Kind)
}

// knows records that the session's agent was told of a stop, so that it is not told of the idleness after it.
func (s *session) knows(kind wake.Kind) {
	switch kind {
	case wake.Stop, wake.StopFailure, wake.QueueComplete, wake.QueueFailed:
	default:
		return
	}
	if s.instance.State != presence.Free {
		return
	}
	s.instance = s.instance.Tell(s.call.Payload.Common().PromptID)
	if err := s.book().Store(s.instance); err != nil {
		s.Log("%v", err)
	}
}

// post completes a letter and puts it into the outbox.
func (d *Driver) post(outside registry.OutsideAgent, l wake.Letter, news ...string) error {
	l.AgentID, l.Workspace = outside.AgentID, outside.WorkingDirectory
	l.Time = d.Now().UTC()
	l.Key = wake.Key(append([]string{string(l.Kind), outside.AgentID, l.Session}, news...)...)
	if l.LastAssistantMessage != nil {
		l.SuggestedCommands = wake.Suggest(*l.LastAssistantMessage)
	}
	instructions, err := wake.Instructions(d.ConfigDir, l.Kind)
	if err != nil {
		d.Log("%v", err) // the built-in one takes its place
	}
	l.Body = wake.Compose(l, instructions)
	return d.outbox().Put(l)
}

// tellEnd tells the session's agent how its queue ended. path is the name that the
// queue's file gets.
func (s *session) tellEnd(o queue.Transition, path string) error {
	kind, err := s.Driver.tellEnd(s.instance.Session, string(s.call.Payload.Event()), o, path)
	s.noteSent(kind)
	return err
}

// noteSent notes that a letter of that kind was written, if one was.
func (s *session) noteSent(kind wake.Kind) {
	if kind != "" {
		s.sent = true
		s.report.effect("wake %s", kind)
		s.knows(kind)
	}
}

// tellEnd gives the kind of the letter, if one was written.
func (d *Driver) tellEnd(session, event string, o queue.Transition, path string) (sent wake.Kind, err error) {
	ending, _ := o.Ended()
	reg := d.registry()
	outside, found := reg.Find(session)
	switch {
	case reg.Unread():
		return "", errors.New("the registry is invalid, so its agent is not notified yet; see: stopgate registry check")
	case !found:
		return "", nil
	}
	l := wake.Letter{Kind: endKind(ending.Kind), Event: event, Session: session, Headline: headline(o.Queue, ending), Queue: summary(o.Queue, path)}
	switch ending.Kind {
	case queue.Complete:
		l.LastAssistantMessage = o.Queue.Commands[len(o.Queue.Commands)-1].Result
	case queue.Broken:
		l.Error = ending.Detail
	}
	if err := d.post(outside, l, o.Queue.Stopgate.ID); err != nil {
		return "", err
	}
	return l.Kind, nil
}

// tellCorrupt tells of a queue whose file was damaged. The session goes on.
func (d *Driver) tellCorrupt(session, event string, corrupt *queue.CorruptError) (sent wake.Kind) {
	outside, found := d.registry().Find(session)
	if !found {
		return ""
	}
	l := wake.Letter{Kind: wake.QueueFailed, Event: event, Session: session, Headline: "Queue failed: " + corrupt.Error()}
	if err := d.post(outside, l, d.Now().String()); err != nil {
		d.Log("cannot notify %s: %v", outside.AgentID, err)
		return ""
	}
	return l.Kind
}

func endKind(k queue.EndKind) wake.Kind {
	switch k {
	case queue.Complete:
		return wake.QueueComplete
	case queue.Cancel:
		return wake.QueueCancelled
	case queue.Stale:
		return wake.QueueStale
	}
	return wake.QueueFailed
}

// headline is the first sentence that an agent reads about a queue that ended.
func headline(q queue.Queue, e queue.Ending) string {
	done, total := q.Completed(), len(q.Commands)
	if e.Kind == queue.Complete {
		return fmt.Sprintf("Queue complete. %d/%d commands executed. Results attached.", done, total)
	}
	rest := fmt.Sprintf(" Completed: %d/%d. Remaining: %s", done, total, list(q.Remaining()))
	switch e.Kind {
	case queue.Cancel:
		return "Queue cancelled by " + e.Why + "." + rest
	case queue.Stale:
		return "Previous session had unfinished queue." + rest
	}
	return "Queue failed: " + e.Why + "." + rest
}

// list is JSON that a person can read.
func list(texts []string) string {
	text, _ := rawjson.Marshal(texts) // strings always encode
	return string(text)
}

func summary(q queue.Queue, path string) *wake.QueueSummary {
	s := &wake.QueueSummary{Path: path, Completed: q.Completed(), Total: len(q.Commands), Remaining: q.Remaining()}
	for _, c := range q.Commands {
		command := wake.QueueCommand{ID: c.ID, Command: c.Command, Status: string(c.Status)}
		if c.CompletedAt != nil {
			at := c.CompletedAt.String()
			command.CompletedAt = &at
		}
		s.Commands = append(s.Commands, command)
	}
	return s
}
