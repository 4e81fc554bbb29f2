package top

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// rank is how urgent a row is.
type rank int

const (
	needsPerson rank = iota
	running
	idle
	ended
)

// row is one line of a list.
type row struct {
	ref     Ref
	rank    rank
	state   string // a word, behind its symbol
	what    string
	project string
	last    string    // the step, the question or the reason
	since   time.Time // of the state
	usd     float64
	away    daemonapi.Away
	nowhere bool // no machine has it yet

	owner    string              // whose log it is
	agent    *daemonapi.Agent    // to attach to
	decision *daemonapi.Decision // to answer
}

// symbols stand before the words of states, for those who look and do not read.
var symbols = map[string]string{
	"decide": "?", "asking": "?", "held": "!", "dead": "!", "blocked": "✗", "not enforced": "!", "gave up": "!",
	"running": "*", "busy": "*", "starting": "*", "waiting": "~", "parked": "~", "queued": ".", "free": "-", "pending": ".", "claimed": "*", "lost": "!",
	"stopped": "-", "done": "✓", "allowed": "✓", "enforced": "✓", "failed": "✗", "refused": "✗", "cancelled": "x", "exited": "x", "ended": "x",
}

func symbolOf(state string) string { return cmp.Or(symbols[state], " ") }

// mark is the state with its symbol.
func (r row) mark() string { return symbolOf(r.state) + " " + line(r.state) }

// text is what the filter looks at.
func (r row) text() string {
	parts := []string{r.state, r.what, r.project, r.last, r.ref.ID}
	for i, part := range parts {
		parts[i] = some(part)
	}
	return strings.ToLower(strings.Join(parts, " "))
}

// some is as much of a text as a row can show.
func some(text string) string {
	const most = 1 << 10
	return text[:min(len(text), most)]
}

// owners are the pipelines and agent runs. One that another runs is part of that, unless it waits for
// a person itself.
func (s *State) owners() (rows []row) {
	for _, o := range s.World.Owners {
		if o.Parent == "" || openDecision(&o) != nil || o.Status == "held" {
			rows = append(rows, ownerRow(&o))
		}
	}
	return rows
}

// openDecision is what an owner waits for; nil where that is nothing that a person can answer.
func openDecision(o *daemonapi.Owner) *daemonapi.Decision {
	switch {
	case o.Decision == nil || o.Decision.Resolved != nil:
		return nil
	case o.Host == "":
		return o.Decision
	}
	d := *o.Decision
	d.Away = o.Away // it is where its owner is
	return &d
}

func ownerRow(o *daemonapi.Owner) row {
	r := row{
		ref: Ref{OwnerRow, o.ID}, rank: running, state: o.Status, what: some(o.Name) + " " + shortID(o.ID), project: projectName(o.Project),
		last: o.Step, since: o.Created, usd: o.USD, away: o.Away, owner: o.ID, agent: o.Agent, decision: openDecision(o),
	}

	switch {
	case r.decision != nil && o.Ended == nil:
		r.rank, r.state, r.since, r.last = needsPerson, "decide", r.decision.Created, r.decision.Question()
	case o.Status == "held":
		r.rank, r.last = needsPerson, cmp.Or(o.Held, o.Error)
	case o.Status == "queued":
		r.rank, r.last = idle, cmp.Or(o.Reason, "waits for room")
	case o.Status == "waiting":
		r.last = cmp.Or(o.Reason, o.Step)
	case o.Status == "running":
		if o.Agent != nil && o.Agent.Status != "waiting" && o.Agent.Status != "exited" {
			r.state = o.Agent.State()
		}
		if r.state == "parked" || r.state == "queued" {
			r.rank = idle
		}
	default:
		r.rank, r.last = ended, cmp.Or(o.Reason, o.Error)
		if o.Ended != nil {
			r.since = *o.Ended
			r.last = cmp.Or(r.last, "took "+short(time.Duration(o.Duration*float64(time.Second))))
		}
	}
	return r
}

// agents are those that owners have.
func (s *State) agents() (rows []row) {
	for _, o := range s.World.Owners {
		if a := o.Agent; a != nil {
			rows = append(rows, agentRow(&o, a))
		}
	}
	return rows
}

func agentRow(o *daemonapi.Owner, a *daemonapi.Agent) row {
	r := row{
		ref: Ref{AgentRow, a.ID}, rank: running, state: a.State(), what: some(a.Name) + " " + shortID(a.ID), project: projectName(a.Project),
		last: some(o.Name) + ": " + some(a.Step), since: a.Started, usd: a.USD, away: o.Away, owner: o.ID, agent: a, decision: openDecision(o),
	}
	switch {
	case a.Status == "exited":
		r.rank = ended
	case r.decision != nil:
		r.rank, r.state, r.since, r.last = needsPerson, "decide", r.decision.Created, r.decision.Question()
	case r.state == "parked" || r.state == "queued":
		r.rank = idle
	}
	if a.Signal != "" {
		r.last += ", signalled " + a.Signal
	}
	return r
}

// sessions are those of people. Those of agents are known by their owners.
func (s *State) sessions() (rows []row) {
	agents, known := map[daemonapi.Terminal]bool{}, map[string]bool{}
	for _, o := range s.World.Owners {
		if o.Host != "" {
			continue // its terminal is not among those here
		}
		if o.Agent != nil && o.Agent.Terminal != nil {
			agents[*o.Agent.Terminal] = true
		}
		if o.Agent != nil {
			known[o.Agent.Session] = true
		}
	}

	in := map[string]*daemonapi.Seen{} // by pane: the last that was heard of
	for i := range s.World.Seen {
		if one := &s.World.Seen[i]; !known[one.ID] && one.Pane != "" && (in[one.Pane] == nil || one.Since.After(in[one.Pane].Since)) {
			in[one.Pane] = one
		}
	}

	panes := map[string]bool{}
	for i := range s.World.Sessions {
		c := &s.World.Sessions[i]
		if agents[daemonapi.Terminal{Socket: c.Socket, Session: c.Session}] {
			continue
		}

		r := row{ref: sessionRef(c), rank: idle, state: c.State, what: c.Session, last: "pane " + some(c.Pane), since: c.Since}
		switch c.State {
		case "asking":
			r.rank, r.last = needsPerson, "Claude Code asks in pane "+some(c.Pane)
		case "busy":
			r.rank = running
		case "ended":
			r.rank = ended
		case "free":
			if one := in[c.Pane]; one != nil && (one.State == "gave_up" || one.State == "failed") {
				let := seenRow(one)
				r.rank, r.state, r.last, r.project = let.rank, let.state, let.last, let.project
			}
		}

		panes[c.Pane] = true
		rows = append(rows, r)
	}

	for i := range s.World.Seen {
		if one := &s.World.Seen[i]; !known[one.ID] && !panes[one.Pane] {
			rows = append(rows, seenRow(one))
		}
	}
	return rows
}

// seenRow is a session by what its hooks told.
func seenRow(one *daemonapi.Seen) row {
	r := row{
		ref: Ref{SeenRow, one.ID}, rank: idle, state: strings.ReplaceAll(one.State, "_", " "), what: "session " + shortID(one.ID), project: projectName(one.Project),
		last: one.Headline, since: one.Since, usd: one.USD,
	}
	switch one.State {
	case "asking":
		r.rank, r.last = needsPerson, "Claude Code asks"
	case "failed":
		r.rank, r.last = needsPerson, "an error of the API ended its turn"
	case "gave_up":
		r.rank = needsPerson
	case "busy", "blocked":
		r.rank = running
	case "ended":
		r.rank = ended
	}
	return r
}

func sessionRef(c *daemonapi.Session) Ref {
	return Ref{SessionRow, c.Pane + " " + strconv.Itoa(c.PID) + " " + c.Socket}
}

// work are the items that are not tried again by themselves.
func (s *State) work() (rows []row) {
	for _, item := range s.World.Dead {
		rows = append(rows, row{
			ref: Ref{WorkRow, item.ID}, rank: needsPerson, state: "dead", what: some(item.Queue) + " " + shortID(item.ID), project: projectName(item.Project),
			last: cmp.Or(item.Error, "item "+some(item.Key)), since: item.Updated, owner: item.Owner,
		})
	}
	return rows
}

// decisions are those that are open.
func (s *State) decisions() (rows []row) {
	for _, o := range s.World.Owners {
		if d := openDecision(&o); d != nil && o.Ended == nil {
			r := ownerRow(&o)
			r.ref = Ref{DecisionRow, d.ID}
			rows = append(rows, r)
		}
	}
	return rows
}

// stops are those that gates have judged, the newest first.
func (s *State) stops() (rows []row) {
	for i := range s.World.Stops {
		stop := &s.World.Stops[i]
		rows = append(rows, row{
			ref: Ref{StopRow, stop.ID}, rank: ended, state: decided(stop), what: some(stop.Event) + " " + shortID(stop.Session), project: projectName(stop.Project),
			last: stop.Headline, since: stop.Time,
		})
	}
	return rows
}

// decided is how a stop was answered, in a word or two.
func decided(stop *daemonapi.GateRun) string {
	switch {
	case stop.NotEnforced != "":
		return "not enforced"
	case stop.Result == "gave_up":
		return "gave up"
	case stop.Result == "rejected":
		return "refused"
	}
	return stop.Result
}

func (s *State) projectRows() (rows []row) {
	for _, p := range s.World.Projects {
		r := row{ref: Ref{ProjectRow, p.Root}, rank: running, state: "enforced", what: p.Root, last: p.Why}
		if !p.Enforced {
			r.state = "not enforced"
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return -cmp.Compare(a.state, b.state) }) // not enforced first
	return rows
}

// spent is what the owners of today have cost.
func (s *State) spent() (usd float64) {
	for _, one := range s.World.Spent {
		usd += one
	}
	return usd
}
