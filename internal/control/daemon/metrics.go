package daemon

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/intake"
	"github.com/stopgate/stopgate/internal/control/metrics"
	"github.com/stopgate/stopgate/internal/control/store"
	"github.com/stopgate/stopgate/internal/session/presence"
	"github.com/stopgate/stopgate/internal/session/queue"
)

// Metrics answers a scrape.
func (p *plane) Metrics() http.Handler { return p.metrics }

// countAppend counts an append to the store by what became of it.
func countAppend(m *metrics.Metrics, took time.Duration, err error) {
	switch {
	case err == nil:
		m.Appended(metrics.OK, took)
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrDuplicate):
		m.Appended(metrics.Conflict, took)
	default:
		m.Appended(metrics.Failed, took)
	}
}

// countSpent counts what agents have spent by facts about an owner. What its children spent, theirs say.
func countSpent(m *metrics.Metrics, before *engine.Owner, facts []engine.Fact) {
	if before == nil {
		return
	}
	for _, f := range facts {
		if spent, is := f.(engine.AgentSpent); is {
			m.Spent(spent.USD - before.Spent[spent.AgentID].USD)
		}
	}
}

// state is what is so now, for a scrape.
func (d *daemon) state() metrics.State {
	s := metrics.State{Owners: map[metrics.Owner]int{}}
	for _, kind := range kinds {
		for _, status := range []string{"running", "queued", "waiting", "done", "failed", "cancelled"} {
			s.Owners[metrics.Owner{Kind: string(kind), Status: status}] = 0
		}
	}
	held, now := d.core.heldOwners(), d.Now()
	for _, o := range append(d.core.owners(), d.core.unknown()...) {
		d.countOwner(&s, o, held, now)
	}

	s.Items = counts(string(intake.Pending), string(intake.Running), string(intake.Done), string(intake.Failed), string(intake.Dead))
	d.core.browse(func(all intake.State) {
		for i := range itemsOf(all) {
			tally(s.Items, string(i.State))
		}
	})
	s.Sessions = counts(string(presence.Free), string(presence.Busy), string(presence.Asking), string(presence.Ended))
	for _, c := range presence.NewBook(d.StateDir).All() {
		tally(s.Sessions, string(c.State))
	}
	s.Commands = d.sessionCommands()
	s.Troubles = d.core.trouble.count()
	unread, err := d.ingest.journal.Unread(d.ingest.reached())
	s.Unread, s.JournalReadable = unread, err == nil
	return s
}

// countOwner adds an owner to what is so.
func (d *daemon) countOwner(s *metrics.State, o *engine.Owner, held map[string]string, now time.Time) {
	is := status(o)
	if held[engine.Subject(o.Kind, o.ID)] != "" {
		is = "held"
	}
	s.Owners[metrics.Owner{Kind: string(o.Kind), Status: is}]++
	switch {
	case is == "held":
		return
	case !alive(o):
	case d.worker.Queued(o.Agent.ID):
		s.AgentsQueued++
	default:
		s.Agents++
	}
	if o.Decision != nil {
		s.Decisions++
		s.OldestDecision = max(s.OldestDecision, now.Sub(o.Decision.Created))
	}
}

// sessionCommands are those in the queues of sessions, by status. Queues that cannot be read have none.
func (d *daemon) sessionCommands() map[string]int {
	found := counts(string(queue.Pending), string(queue.Active), string(queue.Done), string(queue.Failed))
	all, _ := queue.NewStore(d.StateDir).List()
	for _, listed := range slices.DeleteFunc(all, func(l queue.Listed) bool { return l.Err != nil }) {
		for _, c := range listed.Queue.Commands {
			tally(found, string(c.Status))
		}
	}
	return found
}

// counts are zero for each word.
func counts(words ...string) map[string]int {
	all := map[string]int{}
	for _, word := range words {
		all[word] = 0
	}
	return all
}

// tally counts a word that a file says. Others than those that are counted do not become labels.
func tally(counts map[string]int, word string) {
	if _, known := counts[word]; !known {
		word = "other"
	}
	counts[word]++
}
