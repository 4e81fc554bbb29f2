package top

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// The events.
type (
	// Tick is the clock.
	Tick struct{ Now time.Time }
	// Resize is a new size of the window.
	Resize struct{ Width, Height int }
	// Key is a key that was pressed, by its name, and the text that it stands for, if any.
	Key struct{ Name, Text string }
	// Up is the daemon's answer to everything that is asked at once.
	Up struct{ World World }
	// Changed are owners after their newest events.
	Changed struct{ Owners []daemonapi.Owner }
	// Polled is what no event tells of. It has stops only from time to time.
	Polled struct {
		Sessions []daemonapi.Session // in tmux
		Seen     []daemonapi.Seen    // all, in tmux or not
		Dead     []daemonapi.WorkItem
		Stops    []daemonapi.GateRun
		Fleet    daemonapi.Fleet // without a name where this machine is in none
		Jobs     []Job           // of the fleet, that have not ended
	}
	// Surveyed is how projects are enforced.
	Surveyed struct{ Projects []Project }
	// Down means that the daemon cannot be asked.
	Down struct{ Err error }
	// Peeked means that a while has passed since Peek.
	Peeked struct{ Ref Ref }
	// Shown is the answer to Show.
	Shown struct {
		Ref    Ref
		Detail Detail
		Err    error
	}
	// Logged is more of a log that is followed.
	Logged struct {
		Owner string
		Lines []string
		Ended bool
		Err   error
	}
	// Answered is the result of Answer.
	Answered struct {
		Decision daemonapi.Decision
		Err      error
	}
	// Attached means that the person is back.
	Attached struct{ Err error }
)

// The effects: what is to be done.
type (
	// Quit ends the program.
	Quit struct{}
	// Suspend stops the program, as Ctrl-Z does.
	Suspend struct{}
	// Refresh asks the daemon for everything again.
	Refresh struct{}
	// Survey asks how projects are enforced: these, the one here, and all that were approved.
	Survey struct{ Roots []string }
	// Show asks for the details of a row.
	Show struct{ Ref Ref }
	// Peek has Peeked come after a while, so that moving through a list asks for no details on the way.
	Peek struct{ Ref Ref }
	// Follow follows the log of an owner, in place of any other; "" follows none. Of an owner on another machine it
	// shows the end.
	Follow struct {
		Owner string
		Afar  bool
	}
	// Answer answers a decision.
	Answer struct {
		Decision string
		Answer   daemonapi.Answer
	}
	// Attach shows an agent's terminal.
	Attach struct {
		Agent    string
		ReadOnly bool
	}
)

// Next is the state after an event, and what is to be done then.
func Next(s State, event any) (State, []any) {
	s, effects := next(s, event)
	s.table = s.tabulate()
	s, effects = s.besides(effects)
	return s.surveyed(effects)
}

func next(s State, event any) (State, []any) {
	switch e := event.(type) {
	case Tick:
		s.Now = e.Now
	case Resize:
		s.Width, s.Height = e.Width, e.Height
	case Key:
		return press(s, e)
	case Up:
		e.World.Projects = s.World.Projects
		s.World, s.Link = e.World, Link{Up: true, Seen: true}
		return s.refreshed(nil)
	case Changed:
		return s.changed(e.Owners)
	case Polled:
		if e.Stops == nil {
			e.Stops = s.World.Stops
		}
		s.World.Polled = e
	case Surveyed:
		s.World.Projects, s.projects.asking = e.Projects, false
	case Down:
		return s.down(e.Err), nil
	case Peeked:
		if e.Ref == s.peek.ref {
			return s, []any{Show(e)}
		}
	case Shown:
		s.show(e)
	case Logged:
		s.logged(e)
	case Answered:
		return s.answered(e)
	case Attached:
		if s.notice = (notice{}); e.Err != nil {
			s.notice = notice{e.Err.Error(), true}
		}
		return s, []any{Refresh{}}
	}
	return s, nil
}

// lookEvery is how often it is asked how projects are enforced: that reads files of each.
const lookEvery = 30 * time.Second

// surveyed asks how projects are enforced, from time to time and when something runs in another one.
func (s State) surveyed(effects []any) (State, []any) {
	var roots []string
	for _, o := range s.World.Owners {
		if o.Ended == nil && o.Host == "" && !slices.Contains(roots, o.Project) && len(roots) < maxProjects {
			roots = append(roots, o.Project)
		}
	}
	unknown := func(root string) bool { return !slices.Contains(s.projects.asked, root) }
	due := s.Now.Sub(s.projects.at) >= lookEvery
	if s.projects.asking || !due && !slices.ContainsFunc(roots, unknown) {
		return s, effects
	}
	slices.Sort(roots)
	s.projects = projects{asked: roots, asking: true, at: s.Now}
	return s, append(effects, Survey{roots})
}

func (s State) down(err error) State {
	if s.Link.Up {
		s.Link.Lost = s.Now
	}
	s.Link.Up, s.Link.Err = false, err
	return s
}

// maxEnded bounds the owners that are kept after their end.
const maxEnded = 100

// changed takes owners over. The daemon tells less of them in events than in lists.
func (s State) changed(owners []daemonapi.Owner) (State, []any) {
	s.World.Owners, s.World.Spent = cloned(s.World.Owners), cloned(s.World.Spent)
	for i := range owners {
		o := owners[i]
		if before, known := s.World.Owners[o.ID]; known && before.Agent != nil && o.Agent != nil && before.Agent.ID == o.Agent.ID {
			agent := *o.Agent
			agent.Terminal = cmp.Or(agent.Terminal, before.Agent.Terminal)
			o.Agent = &agent
		}
		o.Vars, o.Steps = nil, nil // as in lists
		s.World.Owners[o.ID] = o
		if startedToday(&o, s.Now) {
			s.World.Spent[o.ID] = o.USD
		}
	}
	forget(s.World.Owners)
	return s.refreshed(owners)
}

func cloned[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}

// startedToday reports whether an owner counts for today's cost.
func startedToday(o *daemonapi.Owner, now time.Time) bool {
	return !o.Created.Before(midnight(now))
}

func midnight(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
}

// forget leaves only the newest of those that have ended.
func forget(owners map[string]daemonapi.Owner) {
	var over []daemonapi.Owner
	for _, o := range owners {
		if o.Ended != nil {
			over = append(over, o)
		}
	}
	if len(over) <= maxEnded {
		return
	}
	slices.SortFunc(over, func(a, b daemonapi.Owner) int { return b.Ended.Compare(*a.Ended) })
	for _, o := range over[maxEnded:] {
		delete(owners, o.ID)
	}
}

// refreshed asks again for the details on the screen where they may have changed: those of one of the
// owners, or with nil in any case. A decision that was settled meanwhile is not answered any more.
func (s State) refreshed(owners []daemonapi.Owner) (State, []any) {
	if s.mode == formMode && !s.form.sending && !s.asksAbout(s.form.decision.ID) {
		owner, known := s.World.Owners[s.form.decision.Owner]
		if open := openDecision(&owner); known && (open == nil || open.ID != s.form.decision.ID) {
			s = s.leaveForm()
			s.notice = notice{"the decision was settled meanwhile", true}
		}
	}

	shown := &s.peek
	if s.mode == detailMode || s.mode == formMode {
		shown = &s.detail
	}
	if shown.ref == (Ref{}) {
		return s, nil
	}

	if owners == nil || slices.ContainsFunc(owners, func(o daemonapi.Owner) bool { return shown.concerns(o.ID) }) {
		return s, []any{Show{shown.ref}}
	}
	return s, nil
}

// besides has the details of the selected row shown beside the list, where there is room.
func (s State) besides(effects []any) (State, []any) {
	if s.mode != listMode {
		return s, effects
	}
	at, found := s.selected()
	switch {
	case !s.wide() || !found:
		s.peek = detail{}
	case s.table.rows[at].ref != s.peek.ref:
		s.peek = detail{ref: s.table.rows[at].ref}
		effects = append(effects, Peek{s.peek.ref})
	}
	return s, effects
}

// concerns reports whether the details are about an owner.
func (d *detail) concerns(owner string) bool {
	switch {
	case d.Owner != nil:
		return d.Owner.ID == owner
	case d.Agent != nil:
		return d.Agent.Owner == owner
	case d.Decision != nil:
		return d.Decision.Owner == owner
	}
	return d.ref == Ref{OwnerRow, owner}
}

// show takes details over. Those that could not be asked for just now stay as they were.
func (s *State) show(e Shown) {
	for _, d := range []*detail{&s.detail, &s.peek} { // of neither, where the row was left
		if e.Ref == d.ref && (e.Err == nil || !d.got) {
			d.Detail, d.err, d.got = e.Detail, e.Err, true
		}
	}
	if d := e.Detail.Decision; d != nil && s.mode == formMode && d.ID == s.form.decision.ID && d.Resolved == nil {
		s.form.decision = *d
	}
}

func (s *State) logged(e Logged) {
	if e.Owner != s.log.owner {
		return
	}
	s.log.lines = slices.Concat(s.log.lines, e.Lines)
	if s.log.up > 0 {
		s.log.up += len(e.Lines) // the person reads
	}
	if n := len(s.log.lines); n > maxLog {
		s.log.lines = s.log.lines[n-maxLog:]
	}
	s.log.ended, s.log.err = e.Ended, e.Err
}

// answered shows the result of an answer. After an error the person chooses again.
func (s State) answered(e Answered) (State, []any) {
	if e.Err != nil {
		s.form.sending, s.form.confirm = false, false
		s.notice = notice{refusal(e.Err), true}
		return s, nil
	}
	if s.mode == formMode && s.form.decision.ID == e.Decision.ID {
		s = s.leaveForm()
	}
	s.notice = notice{"decision " + shortID(e.Decision.ID) + " of " + line(e.Decision.Name) + " answered", false}
	return s, []any{Refresh{}}
}

// refusal is what the daemon said, with what helps.
func refusal(err error) string {
	if refused, ok := errors.AsType[*daemonapi.Error](err); ok && refused.Hint != "" {
		return refused.Error() + " (" + refused.Hint + ")"
	}
	return err.Error()
}
