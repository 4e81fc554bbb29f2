package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostInLane are the records of a session on one page.
	mostInLane = 30
	// mostSegments are the segments of the journal that are read for a page, behind the one with the
	// first record: of up to 16 MiB each.
	mostSegments = 2
	// longestID bounds the ids of sessions.
	longestID = 200
	// laneTail are the lines of a log in a lane, and laneTails the stops whose logs are looked into.
	laneTail, laneTails = 12, 3
	// promptsAtOnce are the events of a transcript that are read at a time, and promptReads how often.
	promptsAtOnce, promptReads = 300, 3
	// promptsFor is how long prompts are kept before they are read again: transcripts are long.
	promptsFor = 2 * time.Second
)

// lanePage is one session in time, the newest first.
type lanePage struct {
	Seen
	Last    *account // its last stop; nil where it never stopped
	Items   []laneItem
	Earlier string
	Newest  bool // the page begins with what happened last
	Agent   *daemonapi.Agent
	Queue   *daemonapi.SessionQueue
	Spent   *chart
	USD     float64
	// Untold is set where prompts are known of, but not their text.
	Untold bool
}

// laneItem is something that happened: a prompt, a stop, or a mark such as the session's beginning.
type laneItem struct {
	Time   time.Time
	Kind   string // prompt, stop, mark
	ID     string
	Text   string
	Tone   string
	Stop   *account
	prompt bool // a mark that a prompt was sent
}

// lane is what the journal has about a session, before a position.
type lane struct {
	upTo    journal.Position // of the last record about the session when it was read
	stops   []*stops.Stop
	marks   []laneItem
	oldest  time.Time
	next    journal.Position // where the part before it ends; zero where there is none
	project string
}

type laneKey struct {
	session string
	before  journal.Position
}

// laneEvents are the events that a lane has besides stops.
var laneEvents = []string{"SessionStart", "SessionEnd", "UserPromptSubmit", "PermissionRequest", "Notification"}

// inLane tells the JSON of a record that belongs into a session's lane. It is not decoded for that.
func inLane(ctx context.Context, session string) func(json []byte) bool {
	var named []byte
	if quoted, err := json.Marshal(session); err == nil && string(quoted) == `"`+session+`"` { // any other may be written in several ways
		named = []byte(`"session":` + string(quoted))
	}
	return func(text []byte) bool {
		if !bytes.Contains(text, named) {
			return false
		}
		_, rest, _ := bytes.Cut(text, []byte(`"event":"`))
		name, _, _ := bytes.Cut(rest, []byte(`"`))
		return ctx.Err() == nil && (bytes.Contains(name, []byte("Stop")) || slices.Contains(laneEvents, string(name)))
	}
}

// readLane reads the part of a session's lane before a position. seen is where the last record about it
// ends, zero where that is not known.
func (s *Site) readLane(ctx context.Context, key laneKey, seen journal.Position) (*lane, error) {
	if known, ok := s.lanes.get(key); ok && known.upTo == seen && seen != (journal.Position{}) {
		return known, nil
	}

	l := &lane{upTo: seen}
	before := key.before
	if before == (journal.Position{}) && seen != before {
		before = journal.Position{Segment: seen.Segment, Offset: seen.Offset + 1} // with the last record
	}

	answered := map[string]bool{}
	segments, last := 0, journal.Position{}
	for entry, err := range s.roster.journal.Backward(before, inLane(ctx, key.session)) {
		switch {
		case err != nil:
			return nil, unavailable(err)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case entry.Record == nil:
			if l.size() > 0 {
				segments++
			}
		case entry.Record.Session == key.session:
			l.add(entry.Record, answered, key.before == journal.Position{})
		}
		if last = entry.Position; l.size() >= mostInLane || segments > mostSegments {
			l.next = last
			break
		}
	}

	if key.before != (journal.Position{}) {
		if err := s.dropAnswered(l); err != nil {
			return nil, unavailable(err)
		}
	}

	s.lanes.put(key, l)
	return l, nil
}

// dropAnswered drops the stops whose answers are in the part behind this one.
func (s *Site) dropAnswered(l *lane) (err error) {
	l.stops = slices.DeleteFunc(l.stops, func(stop *stops.Stop) bool {
		if stop.Decision != stops.Unanswered || err != nil {
			return false
		}
		var whole *stops.Stop
		whole, err = s.findStop(stop.ID)
		return whole != nil && whole.Decision != stops.Unanswered
	})
	return err
}

func (l *lane) size() int { return len(l.stops) + len(l.marks) }

// add takes a record, the newest first. Of a call that was received the answer may be in the part behind
// this one, unless this is the newest: for stops that is found out later, for others it does not matter.
func (l *lane) add(r *event.Record, answered map[string]bool, newest bool) {
	l.project = cmp.Or(l.project, r.Project)
	switch {
	case r.Kind == event.Answered:
		answered[r.Call] = true
	case answered[r.Call]:
		return
	}
	if stop := stops.Of(r); stop != nil {
		if !stop.Adopted {
			l.stops, l.oldest = append(l.stops, stop), r.Time
		}
		return
	}
	if mark, ok := markOf(r); ok && (newest || r.Kind == event.Answered) {
		l.marks, l.oldest = append(l.marks, mark), r.Time
	}
}

// markOf is what a record besides stops says in a lane.
func markOf(r *event.Record) (laneItem, bool) {
	m := laneItem{Time: r.Time, Kind: "mark", ID: "m-" + r.Call, Tone: "calm"}
	switch r.Event {
	case "SessionStart":
		m.Text = "The session began"
		if r.Enums.Source != "" && r.Enums.Source != "startup" {
			m.Text += " (" + r.Enums.Source + ")"
		}
	case "SessionEnd":
		m.Text = "The session ended"
		if r.Enums.Reason != "" && r.Enums.Reason != "other" {
			m.Text += " (" + r.Enums.Reason + ")"
		}
	case "UserPromptSubmit":
		m.Text, m.prompt = "A prompt", true
	case "PermissionRequest":
		m.Text, m.Tone = "Claude Code asked for permission", "warn"
		if r.Enums.ToolName != "" {
			m.Text += ": " + r.Enums.ToolName
		}
	case "Notification":
		if r.Enums.NotificationType != "permission_prompt" {
			return m, false
		}
		m.Text, m.Tone = "Claude Code waits for a person", "warn"
	default:
		return m, false
	}
	return m, true
}

func readLanePage(r *Request) (any, error) {
	id := r.PathValue("id")
	if id == "" || len(id) > longestID {
		return nil, missing("There is no such session.")
	}

	before, place, err := laneCursor(r.Value("before"))
	if err != nil {
		return nil, err
	}
	seen, known, err := r.Roster().Find(id)
	if err != nil {
		return nil, unavailable(err)
	}

	l, err := r.site.readLane(r.Context(), laneKey{id, before}, seen.At)
	if err != nil {
		return nil, err
	}
	if !known && l.size() == 0 {
		return nil, missing("There is no such session. The journal keeps sessions for 30 days.")
	}
	if !known {
		seen = Seen{ID: id, Project: l.project, State: "ended", Since: l.oldest}
	}

	page := lanePage{Seen: seen, Newest: before == (journal.Position{})}
	page.addStops(r.site, l)
	place, err = page.addPrompts(r, l, place)
	if err != nil {
		return nil, err
	}

	if l.next != (journal.Position{}) {
		page.Earlier = r.With("before", l.next.String()+"~"+strconv.FormatInt(place, 10))
	}
	return page.around(r, l)
}

// laneCursor is where a part of a lane ends: in the journal, and in the transcript.
func laneCursor(text string) (before journal.Position, place int64, err error) {
	if text == "" {
		return before, 0, nil
	}
	position, rest, _ := strings.Cut(text, "~")
	before, err = journal.ParsePosition(position)
	if err == nil {
		place, err = strconv.ParseInt(rest, 10, 64)
	}
	if err != nil || place < 0 {
		return before, 0, missing("This part of the session is not there. Open the session again.")
	}
	return before, place, nil
}

// addStops adds what the journal has.
func (p *lanePage) addStops(s *Site, l *lane) {
	tails := laneTails
	for _, stop := range l.stops {
		lines := 0
		if tails > 0 && stop.Decision != stops.Allowed {
			lines, tails = laneTail, tails-1
		}
		t := s.tellStop(stop, lines)
		if p.Last == nil && p.Newest {
			p.Last = &t
		}
		p.Items = append(p.Items, laneItem{Time: stop.Time, Kind: "stop", ID: "c-" + stop.ID, Tone: t.Tone, Stop: &t})
	}
	p.Items = append(p.Items, l.marks...)
}

// addPrompts adds what the session was told in the time of a lane, from its transcript, before a place in
// that. It returns where the part before it ends.
func (p *lanePage) addPrompts(r *Request, l *lane, place int64) (int64, error) {
	since := l.oldest
	if l.next == (journal.Position{}) {
		since = time.Time{}
	}
	asked, err := r.site.prompts(r, p.ID, place, since)
	if err != nil {
		return place, err
	}
	if len(asked.items) > 0 {
		p.Items = slices.DeleteFunc(p.Items, func(i laneItem) bool { return i.prompt })
		p.Items = append(p.Items, asked.items...)
	}
	p.Untold = slices.ContainsFunc(p.Items, func(i laneItem) bool { return i.prompt })
	slices.SortStableFunc(p.Items, func(a, b laneItem) int { return b.Time.Compare(a.Time) })
	return asked.from, nil
}

// prompts are what a session was told.
type prompts struct {
	read  time.Time
	items []laneItem
	from  int64 // what is before them ends here
}

type promptsKey struct {
	session string
	place   int64
	since   time.Time
}

// prompts reads what a session was told since a time and before a place in its transcript.
func (s *Site) prompts(r *Request, session string, place int64, since time.Time) (*prompts, error) {
	key := promptsKey{session, place, since}
	if known, ok := s.prompted.get(key); ok && s.Now().Sub(known.read).Abs() < promptsFor {
		return known, nil
	}

	found := &prompts{read: s.Now(), from: place}
	at := place
	for range promptReads {
		part, err := r.SessionConversation(r.Context(), session, api.Range{At: at, Before: true, Limit: promptsAtOnce})
		if err != nil {
			return nil, err
		}

		reached := false
		for _, m := range slices.Backward(part.Messages) {
			if m.Time != nil && m.Time.Before(since) {
				reached = true
				break
			}
			found.from = m.At
			if m.Kind == "prompt" || m.Kind == "answer" {
				found.items = append(found.items, promptItem(m))
			}
		}

		if at = part.From; reached || at == 0 || len(found.items) >= promptsAtOnce {
			break
		}
	}

	s.prompted.put(key, found)
	return found, nil
}

func promptItem(m daemonapi.Message) laneItem {
	item := laneItem{Kind: "prompt", ID: "p-" + strconv.FormatInt(m.At, 10), Text: m.Text, Tone: "busy"}
	if m.Time != nil {
		item.Time = *m.Time
	}
	return item
}

// around adds what is known of the session besides.
func (p *lanePage) around(r *Request, l *lane) (any, error) {
	if a, found := r.SessionAgent(r.Context(), p.ID); found {
		p.Agent = &a
	}
	if err := p.addQueue(r); err != nil {
		return nil, err
	}
	if !p.Newest {
		return *p, nil
	}

	spent, err := r.SessionSpending(r.Context(), p.ID)
	if err != nil {
		return nil, err
	}

	p.USD = p.Seen.USD
	if len(spent) > 0 {
		p.USD += spent[len(spent)-1].USD
	}
	p.Spent = spentChart(spent, l.stops, p.Seen.USD)
	return *p, nil
}

// addQueue finds the commands that wait for the session: those of the tmux session that its pane is in.
func (p *lanePage) addQueue(r *Request) error {
	if p.Pane == "" || p.State == "ended" {
		return nil
	}

	const most = 500
	sessions, err := r.Sessions(r.Context(), &api.Query{Limit: most})
	if err != nil {
		return err
	}

	names := map[string]bool{}
	for _, c := range sessions.Items {
		if c.Pane == p.Pane && c.State != "ended" {
			names[c.Session] = true
		}
	}
	if len(names) != 1 { // panes of two tmux servers may have the same name
		return nil
	}

	for name := range names {
		queues, err := r.SessionQueues(r.Context(), &api.Query{Session: name, Past: true, Limit: 1})
		if err != nil || len(queues.Items) == 0 {
			return err
		}
		p.Queue = &queues.Items[0]
	}
	return nil
}

// Shown is a text of any length, cut.
func (i laneItem) Shown() string { return plain.Clip(strings.TrimSpace(plain.Words(i.Text)), 1500) }

// laneIcon is the symbol of what happened.
func laneIcon(i laneItem) string {
	switch i.Kind {
	case "prompt":
		return "person"
	case "stop":
		return verdictIcon(i.Tone)
	}
	return "point"
}

// outcomes are how many gates of a stop ended how, in words.
func outcomes(t *account) (all []string) {
	n := t.Counts()
	for _, o := range []struct{ outcome, words string }{
		{event.GateFailed, "failed"}, {event.GateCouldNotRun, "could not run"}, {event.GateNotStarted, "not started"}, {event.GatePassed, "passed"}, {event.GateProven, "from proofs"},
	} {
		if n[o.outcome] > 0 {
			all = append(all, strconv.Itoa(n[o.outcome])+" "+o.words)
		}
	}
	return all
}
