package web

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/doctor"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/record/stops"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

const (
	// mostRecords are the records on a page.
	mostRecords = 50
	// mostDecoded are the records that are looked at for a page.
	mostDecoded = 5_000
	// mostRecordSegments are the segments of the journal that are read for a page.
	mostRecordSegments = 3
	// unanswered and spoken are the words for calls without an answer, and for what agents said.
	unanswered, spoken = "open", "sent"
)

// journalPage is some of the journal, the newest first.
type journalPage struct {
	Filter journalFilter
	Events []choice
	Chosen []choice // decisions
	Ages   []choice
	Items  []journalRow
	Older  string
	First  bool // it begins with the newest
	Search bool // something is asked for
	Verify verification
}

// choice is one of a list to choose from.
type choice struct {
	Value, Name string
	Here        bool
}

// journalFilter says which records are wanted.
type journalFilter struct {
	Session  string
	Project  string
	Event    string
	Decision string
	Age      string
	since    time.Time
}

// ages are how far back people look, by the word in the address.
var ages = []struct {
	word, name string
	d          time.Duration
}{{"", "any time", 0}, {"1h", "the last hour", time.Hour}, {"24h", "the last 24 hours", 24 * time.Hour}, {"7d", "the last 7 days", 7 * 24 * time.Hour}}

// decisionNames are what a record comes to.
var decisionNames = []struct{ word, name string }{
	{"", "any decision"}, {"block", "blocked"}, {"allow", "allowed"}, {"reject", "rejected"}, {unanswered, "no answer"}, {spoken, "said by an agent"},
}

// eventNames are those of hooks and of what agents say.
func eventNames() []string {
	return append(document.Strings(hook.Events()), event.AgentSignal, event.AgentIdle, event.AgentPrompt, event.AgentStop, event.AgentError, event.AgentSession)
}

// journalRow is a record as people see it.
type journalRow struct {
	ID       string
	Time     time.Time
	Event    string
	Session  string
	Agent    string
	Project  string
	Decision string
	Tone     string // of the decision
	Why      string
	Stop     string // the id of its page
	call     string
}

func readJournal(r *Request) (any, error) {
	page := journalPage{Filter: filterOf(r), Verify: r.site.verified.get()}
	page.choices()
	page.Search = page.Filter != journalFilter{}
	before, err := parsePlace(r.Value("before"))
	if err != nil {
		return nil, err
	}
	page.First = before == journalPlace{}
	next, err := page.read(r, before)
	if err != nil {
		return nil, err
	}
	if next != (journalPlace{}) {
		page.Older = r.With("before", next.String())
	}
	return page, nil
}

func filterOf(r *Request) journalFilter {
	f := journalFilter{Session: strings.TrimSpace(r.Value("session")), Project: strings.TrimSpace(r.Value("project"))}
	if name := r.Value("event"); slices.Contains(eventNames(), name) {
		f.Event = name
	}
	for _, d := range decisionNames {
		if d.word == r.Value("decision") {
			f.Decision = d.word
		}
	}
	for _, a := range ages {
		if a.d > 0 && a.word == r.Value("age") {
			f.Age, f.since = a.word, r.Now.Add(-a.d)
		}
	}
	return f
}

func (p *journalPage) choices() {
	p.Events = append(p.Events, choice{"", "any event", p.Filter.Event == ""})
	for _, name := range eventNames() {
		p.Events = append(p.Events, choice{name, name, name == p.Filter.Event})
	}
	for _, d := range decisionNames {
		p.Chosen = append(p.Chosen, choice{d.word, d.name, d.word == p.Filter.Decision})
	}
	for _, a := range ages {
		p.Ages = append(p.Ages, choice{a.word, a.name, a.word == p.Filter.Age})
	}
}

// journalPlace is where a page of the journal ends: with the record that ends at a position, which is on
// the page before, and answers a call that this page may have.
type journalPlace struct {
	at   journal.Position
	call string
}

func (p journalPlace) String() string { return p.at.String() + "~" + p.call }

func parsePlace(text string) (p journalPlace, err error) {
	if text == "" {
		return p, nil
	}
	position, call, _ := strings.Cut(text, "~")
	if p.at, err = journal.ParsePosition(position); err != nil {
		return p, missing("This part of the journal is not there. Open the journal again.")
	}
	p.call = call
	return p, nil
}

// read reads a page, and returns where the next one ends; the zero place where there is none.
func (p *journalPage) read(r *Request, before journalPlace) (next journalPlace, err error) {
	answered, segments, decoded := map[string]bool{before.call: true}, 0, 0
	j, ctx := r.site.roster.journal, r.Context()

	for entry, err := range j.Backward(before.at, p.Filter.mayWant) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return next, unavailable(err)
		}

		here := journalPlace{at: entry.Position}
		switch rec := entry.Record; {
		case rec == nil:
			segments++
		case rec.Kind == event.Answered:
			answered[rec.Call], here.call = true, rec.Call
			fallthrough
		default:
			if (rec.Kind != event.Received || !answered[rec.Call]) && p.Filter.wants(rec) {
				p.Items = append(p.Items, rowOf(rec))
			}
		}

		if decoded++; len(p.Items) >= mostRecords || segments >= mostRecordSegments || decoded >= mostDecoded {
			next = here
			break
		}
	}

	if !p.First {
		err = p.dropAnswered(j, before.at)
	}
	return next, err
}

// dropAnswered drops the calls whose answers are on the page before this one.
func (p *journalPage) dropAnswered(j *journal.Journal, from journal.Position) error {
	waiting := map[string]bool{}
	for i := range p.Items {
		if p.Items[i].Decision == unanswered {
			waiting[p.Items[i].call] = true
		}
	}
	if len(waiting) == 0 {
		return nil
	}

	named := func(json []byte) bool {
		_, rest, _ := bytes.Cut(json, []byte(`"call":"`))
		call, _, _ := bytes.Cut(rest, []byte(`"`))
		return waiting[string(call)]
	}

	for entry, err := range j.Select(from, named) {
		if errors.Is(err, journal.ErrPosition) { // a person made it up
			return nil
		}
		if err != nil {
			return unavailable(err)
		}

		if entry.Record != nil && entry.Record.Kind == event.Answered {
			p.Items = slices.DeleteFunc(p.Items, func(row journalRow) bool { return row.Decision == unanswered && row.call == entry.Record.Call })
			delete(waiting, entry.Record.Call)
		}
		if len(waiting) == 0 || entry.Position.Segment > from.Segment+1 {
			break
		}
	}
	return nil
}

// mayWant tells by the JSON of a record whether it may be wanted. It is not decoded for that. The first
// "event" with its quotes is the record's own: in a text before it the quotes are escaped.
func (f *journalFilter) mayWant(json []byte) bool {
	_, rest, _ := bytes.Cut(json, []byte(`"event":"`))
	switch {
	case f.Session != "" && !mayHave(json, `"session":"`, f.Session) && !mayHave(json, `"agent":"`, f.Session), !mayHave(json, "", f.Project):
		return false
	case f.Event != "" && !bytes.HasPrefix(rest, []byte(f.Event+`"`)):
		return false
	case f.Decision == "block" || f.Decision == "reject":
		return bytes.Contains(rest, []byte(`"decision":"`+f.Decision+`"`))
	case f.Decision == spoken:
		return bytes.Contains(json, []byte(`"kind":"emitted"`))
	}
	return true
}

// mayHave reports whether JSON may have a text in it, behind something else. One that can be written in
// several ways may always be there.
func mayHave(json []byte, behind, text string) bool {
	escaped := strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\<>&`, c) })
	return escaped || bytes.Contains(json, []byte(behind+text))
}

func (f *journalFilter) wants(r *event.Record) bool {
	row := rowOf(r)
	if strings.HasPrefix(r.Session, doctor.SessionPrefix) && !strings.HasPrefix(f.Session, strings.TrimSuffix(doctor.SessionPrefix, "-")) {
		return false
	}
	return (strings.HasPrefix(r.Session, f.Session) || f.Session != "" && strings.HasPrefix(row.Agent, f.Session)) &&
		strings.Contains(r.Project, f.Project) &&
		(f.Event == "" || f.Event == r.Event) &&
		(f.Decision == "" || f.Decision == row.Decision) &&
		!r.Time.Before(f.since)
}

// rowOf is a record as people see it.
func rowOf(r *event.Record) journalRow {
	row := journalRow{ID: r.ID, Time: r.Time, Event: r.Event, Session: r.Session, Project: r.Project, Decision: r.Decision, call: r.Call}

	switch r.Kind {
	case event.Received:
		row.Decision, row.Why = unanswered, "no answer: the hook is still running, or was killed before it enforced anything"
	case event.Emitted:
		row.Decision = spoken
		if w := r.Word; w != nil {
			row.Agent, row.Why = w.Agent, strings.Trim(w.Kind+w.Type+": "+w.Message, ": ")
		}
	default:
		mark, _ := markOf(r)
		row.Why = cmp.Or(reasonOf(r), mark.Text, strings.TrimSpace(r.Event+" "+r.Enums.ToolName))
	}

	row.Why, row.Tone = cmp.Or(row.Why, r.Event), tone(row.Decision)
	switch stop := stops.Of(r); {
	case stop != nil:
		row.Stop, row.Why, row.Tone = r.Call, stop.Headline(), toneOf(stop)
	case row.Decision == "allow": // nothing had to be decided
		row.Tone = "calm"
	}
	return row
}

// reasonOf is what the keepers said about a call that is not a stop.
func reasonOf(r *event.Record) string {
	var parts []string
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		text := v.Keeper + ": " + strings.ReplaceAll(cmp.Or(v.Message, v.Status), "_", " ")
		if parts = append(parts, plain.Line(text)); len(parts) == 4 {
			break
		}
	}
	return strings.Join(append(parts, r.Effects...), ", ")
}
