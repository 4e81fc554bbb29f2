package metrics

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// State is what is so at the moment of a scrape. The keys of maps have few values, which the daemon
// itself chooses.
type State struct {
	Owners          map[Owner]int
	Sessions        map[string]int // clients in tmux, by state
	Items           map[string]int // of queues of work, by state
	Commands        map[string]int // of queues of sessions, by status
	Agents          int            // that run
	AgentsQueued    int            // that wait until there is room
	Decisions       int            // that are open
	OldestDecision  time.Duration  // how long the oldest of them is open
	Troubles        int            // what keeps the daemon from its work
	Unread          int64          // bytes of the journal
	JournalReadable bool           // else it is not known how many are unread
}

// Owner is what owners are counted by.
type Owner struct{ Kind, Status string }

// standing collects the state.
type standing struct {
	mu   sync.Mutex // one look at a time
	look func() State
}

func newStanding(look func() State) *standing { return &standing{look: look} }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	ownersDesc       = describe("stopgate_owners", "Pipelines and agent runs that the daemon knows, by status.", "kind", "status")
	sessionsDesc     = describe("stopgate_sessions", "Sessions of Claude Code in tmux, by state.", "state")
	itemsDesc        = describe("stopgate_work_items", "Items in queues of work, by state.", "state")
	commandsDesc     = describe("stopgate_session_commands", "Commands in queues of sessions, by status.", "status")
	agentsDesc       = describe("stopgate_agents_running", "Agents of pipelines that run.")
	agentsQueuedDesc = describe("stopgate_agents_queued", "Agents of pipelines that wait until there is room for them.")
	decisionsDesc    = describe("stopgate_decisions_open", "Decisions that wait for a person.")
	oldestDesc       = describe("stopgate_decision_oldest_age_seconds", "How long the oldest open decision waits; 0 without one.")
	troublesDesc     = describe("stopgate_daemon_troubles", "What keeps the daemon from its work: stopgate daemon status names it.")
	unreadDesc       = describe("stopgate_journal_unread_bytes", "How far the daemon is behind the journal's end.")
)

// Describe implements prometheus.Collector.
func (*standing) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		ownersDesc, sessionsDesc, itemsDesc, commandsDesc, agentsDesc, agentsQueuedDesc, decisionsDesc, oldestDesc, troublesDesc, unreadDesc,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s *standing) Collect(to chan<- prometheus.Metric) {
	s.mu.Lock()
	now := s.look()
	s.mu.Unlock()

	gauge := func(d *prometheus.Desc, n float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, labels...)
	}
	for owner, n := range now.Owners {
		gauge(ownersDesc, float64(n), owner.Kind, owner.Status)
	}
	for d, counts := range map[*prometheus.Desc]map[string]int{sessionsDesc: now.Sessions, itemsDesc: now.Items, commandsDesc: now.Commands} {
		for _, label := range slices.Sorted(maps.Keys(counts)) {
			gauge(d, float64(counts[label]), label)
		}
	}
	gauge(agentsDesc, float64(now.Agents))
	gauge(agentsQueuedDesc, float64(now.AgentsQueued))
	gauge(decisionsDesc, float64(now.Decisions))
	gauge(oldestDesc, max(now.OldestDecision.Seconds(), 0))
	gauge(troublesDesc, float64(now.Troubles))
	if now.JournalReadable {
		gauge(unreadDesc, float64(now.Unread))
	}
}
