package top

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
)

// stops are the newest that were judged, of one session of Claude Code or, with "", of all. All that is
// shown of stops comes from here.
func (s *Source) stops(ctx context.Context, session string, most int) ([]daemonapi.GateRun, error) {
	return s.client.Gates(ctx, session, daemonapi.Filter{Limit: most})
}

// Show asks for the details of a row.
func (s *Source) Show(ctx context.Context, ref Ref) Shown {
	d, err := s.detail(ctx, ref)
	return Shown{ref, d, err}
}

func (s *Source) detail(ctx context.Context, ref Ref) (d Detail, err error) {
	switch ref.Kind {
	case OwnerRow:
		o, err := s.client.Owner(ctx, ref.ID)
		if err != nil {
			return d, err
		}
		if d.Owner = &o; o.Agent != nil {
			d.Agent = o.Agent
			s.addAgent(ctx, &d)
		}
		s.addLog(ctx, o.ID, &d)
	case AgentRow:
		a, err := s.client.Agent(ctx, ref.ID)
		if err != nil {
			return d, err
		}
		d.Agent = &a
		s.addAgent(ctx, &d)
		s.addLog(ctx, a.Owner, &d)
	case DecisionRow:
		decision, err := s.client.Decision(ctx, ref.ID)
		d.Decision = &decision
		return d, err
	case SessionRow:
		return s.session(ctx, ref)
	case SeenRow:
		stops, err := s.stops(ctx, ref.ID, 1)
		s.addStop(&d, newest(stops, func(*daemonapi.GateRun) bool { return true }))
		return d, err
	case StopRow:
		stops, err := s.stops(ctx, "", maxStops)
		s.addStop(&d, newest(stops, func(stop *daemonapi.GateRun) bool { return stop.ID == ref.ID }))
		return d, err
	}
	return d, nil
}

// addAgent adds the end of the agent's conversation and its last stop. Not each agent has them.
func (s *Source) addAgent(ctx context.Context, d *Detail) {
	if !d.Agent.ClaudeCode {
		return
	}
	if c, err := s.client.Conversation(ctx, d.Agent.ID, maxMessages); err == nil {
		d.Messages = c.Messages
	}
	if d.Agent.Session == "" {
		return
	}
	if stops, err := s.stops(ctx, d.Agent.Session, 1); err == nil && len(stops) > 0 {
		s.addStop(d, &stops[0])
	}
}

// addLog adds the end of the log where there is no conversation, which says more.
func (s *Source) addLog(ctx context.Context, owner string, d *Detail) {
	if len(d.Messages) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // it is a help, no more
	defer cancel()
	for text, err := range s.client.Tail(ctx, owner, detailLogLines, false) {
		if err != nil {
			return
		}
		d.Log = append(d.Log, text)
	}
}

// session is a session in tmux, with its queue and the last stop in its pane.
func (s *Source) session(ctx context.Context, ref Ref) (d Detail, err error) {
	sessions, err := s.client.Sessions(ctx, daemonapi.Filter{Limit: maxSessions})
	if err != nil {
		return d, err
	}
	at := slices.IndexFunc(sessions, func(c daemonapi.Session) bool { return sessionRef(&c) == ref })
	if at < 0 {
		return d, errors.New("the session is gone")
	}
	d.Session = &sessions[at]
	if queues, err := s.client.SessionQueues(ctx, d.Session.Session); err == nil && len(queues) > 0 {
		d.Queue = &queues[0]
	}

	// The panes of agents, in another tmux, have the same names.
	agents, err := s.client.SomeAgents(ctx, daemonapi.Filter{Limit: maxLive})
	if err != nil {
		return d, err
	}
	ofAgent := func(session string) bool {
		return slices.ContainsFunc(agents, func(a daemonapi.Agent) bool { return a.Session == session })
	}
	stops, err := s.stops(ctx, "", maxStops)
	s.addStop(&d, newest(stops, func(stop *daemonapi.GateRun) bool { return stop.Pane == d.Session.Pane && !ofAgent(stop.Session) }))
	return d, err
}

// addStop adds a stop, with the end of the log of the gate that failed.
func (s *Source) addStop(d *Detail, stop *daemonapi.GateRun) {
	if d.Stop = stop; stop == nil {
		return
	}
	for _, tree := range stop.Trees {
		for _, gate := range tree.Gates {
			if gate.Outcome != "failed" || gate.Log == "" {
				continue
			}
			lines, err := kept.Tail(s.stateDir, gate.Log, detailLogLines)
			if err != nil {
				lines = []string{"(" + kept.Trouble(err) + ")"}
			}
			d.GateLog = lines
			return
		}
	}
}
