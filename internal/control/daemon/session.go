package daemon

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// SessionQueues reads the files that hooks keep: the daemon has no part in them.
func (p *plane) SessionQueues(_ context.Context, q *api.Query) (api.Page[daemonapi.SessionQueue], error) {
	store := queue.NewStore(p.opts.StateDir)
	all, err := store.List()
	if err != nil {
		return api.Page[daemonapi.SessionQueue]{}, api.Refusal("unavailable", "cannot read the queues: "+plain.Line(err.Error()), "")
	}
	if q.Past {
		for _, session := range store.Sessions() {
			if last, err := store.Last(session); err == nil {
				all = append(all, last)
			}
		}
	}
	all = slices.DeleteFunc(all, func(l queue.Listed) bool {
		return !api.Is(q.Session, l.Session) || !q.AllowsTime(l.Created())
	})
	place := func(l queue.Listed) api.Place {
		return api.Place{Time: l.Created(), ID: strings.ToValidUTF8(l.Path, "�")}
	}
	return api.View(api.PageOf(slices.Values(all), place, q), queueView), nil
}

func queueView(l queue.Listed) daemonapi.SessionQueue {
	view := daemonapi.SessionQueue{Session: l.Session, Path: l.Path, Commands: []daemonapi.SessionCommand{}}
	if at := l.Created(); !at.IsZero() {
		view.Created = &at
	}
	if l.Err != nil {
		view.Fault = plain.Line(l.Err.Error())
		return view
	}
	view.Done = l.Queue.Completed()
	if meta := l.Queue.Stopgate; meta != nil && meta.Ending != nil {
		view.Ended, view.Why = string(meta.Ending.Kind), plain.Line(strings.TrimSpace(meta.Ending.Why+" "+meta.Ending.Detail))
	}
	for _, c := range l.Queue.Commands {
		view.Commands = append(view.Commands, queueCommandView(c))
	}
	return view
}

func queueCommandView(c queue.Command) daemonapi.SessionCommand {
	view := daemonapi.SessionCommand{ID: c.ID, Command: plain.Words(c.Command), Status: string(c.Status)}
	if c.Stopgate != nil {
		view.Tries, view.Why = c.Stopgate.Tries, plain.Line(c.Stopgate.Why)
	}
	if c.Status == queue.Active {
		view.Delivery = string(c.State())
	}
	if c.Result != nil {
		view.Result = plain.Cut(plain.Words(*c.Result), longestMessage)
	}
	if c.CompletedAt != nil {
		view.Completed = &c.CompletedAt.Time
	}
	return view
}

// Sessions reads what hooks told about clients in tmux.
func (p *plane) Sessions(_ context.Context, q *api.Query) (api.Page[daemonapi.Session], error) {
	all := slices.DeleteFunc(presence.NewBook(p.opts.StateDir).All(), func(c presence.Instance) bool {
		return !api.Is(q.Session, c.Session) || !q.Allows(string(c.State)) || !q.AllowsTime(c.Since)
	})
	place := func(c presence.Instance) api.Place {
		return api.Place{Time: c.Since, ID: strings.ToValidUTF8(c.Pane+" "+strconv.Itoa(c.PID)+" "+c.Socket, "�")}
	}
	return api.View(api.PageOf(slices.Values(all), place, q), func(c presence.Instance) daemonapi.Session {
		return daemonapi.Session{Session: c.Session, Socket: c.Socket, PID: c.PID, Pane: c.Pane, State: string(c.State), Since: c.Since}
	}), nil
}
