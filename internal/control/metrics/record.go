package metrics

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
)

// The values of labels that records have a say in. Any other value is "other".
var (
	stopEvents = []string{"Stop", "SubagentStop"}
	decisions  = []string{"allow", "block", "reject"}
	keepers    = []string{"guard", "gates", "protect", "supervisor", "lifecycle", "chain"}
	kinds      = []string{"check", "review", "runner", "trust", "lock"}
	// ran are the outcomes of gates that took time, and asked are all of those that a stop had to do with.
	ran   = []string{"passed", "failed", "could_not_run"}
	asked = append([]string{"proven", "not_started"}, ran...)
)

// other stands for every value that has no label of its own.
const other = "other"

// oneOf is a value if it is one of some, else other.
func oneOf(value string, some []string) string {
	if slices.Contains(some, value) {
		return value
	}
	return other
}

// Counts reports whether Hear would count a record.
func Counts(r *event.Record) bool { return r.Kind == event.Answered }

// Hear counts a record of the journal.
func (m *Metrics) Hear(r *event.Record) {
	if !Counts(r) {
		return
	}
	m.hookDuration.WithLabelValues(oneOf(r.Event, hookEvents)).Observe(seconds(r.DurationMS))
	if !slices.Contains(stopEvents, r.Event) || r.Adopted() {
		return
	}
	m.stops.WithLabelValues(r.Event, oneOf(cmp.Or(r.Decision, "allow"), decisions)).Inc()
	for _, v := range r.Verdicts {
		if v.Blocked {
			m.blocks.WithLabelValues(oneOf(v.Keeper, keepers)).Inc()
		}
		if !v.Reused {
			add(m.cost.WithLabelValues(ofReviews), v.Cost.USD)
		}
	}
	for _, tree := range r.Trees {
		for _, g := range tree.Gates {
			m.gate(tree.Root, g)
		}
	}
}

// gate counts what became of a gate in a working tree.
func (m *Metrics) gate(root string, g event.Gate) {
	outcome := oneOf(g.Outcome, asked)
	if outcome == other { // it was not asked
		return
	}
	kind, name := parts(g.Job)
	name = m.gates.name(name)
	m.gateResults.WithLabelValues(name, kind, outcome).Inc()

	id := root + "\x00" + g.Job
	switch {
	case slices.Contains(ran, outcome):
		m.gateDuration.WithLabelValues(name).Observe(seconds(g.DurationMS))
		m.known.set(id, g.DurationMS)
	case outcome == "proven":
		m.saved.Add(seconds(m.known.get(id)))
	}
}

// parts are the kind and the name of a gate, of a job such as check:packages/one:test. The entry point
// is left out: there can be thousands, and they are folders of the user's.
func parts(job string) (kind, name string) {
	kind, rest, found := strings.Cut(job, ":")
	if !found {
		return oneOf(job, kinds), job
	}
	return oneOf(kind, kinds), rest[strings.LastIndexByte(rest, ':')+1:]
}

// longestCall is more than any hook call takes.
const longestCall = 7 * 24 * time.Hour

// seconds is a duration of a record, which may be nonsense.
func seconds(ms int64) float64 {
	return (time.Duration(min(max(ms, 0), longestCall.Milliseconds())) * time.Millisecond).Seconds()
}

var hookEvents = func() (names []string) {
	for _, e := range hook.Events() {
		names = append(names, string(e))
	}
	return names
}()
