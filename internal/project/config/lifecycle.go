package config

import "github.com/stopgate/stopgate/internal/project/document"

// Lifecycle is what holds for the agents that the daemon runs.
type Lifecycle struct {
	WhenDaemonDown WhenDown
	MaxAgents      int // that run at once on this machine; 0 is no limit
}

// WhenDown is what becomes of an agent's stop when nobody can say whether it has signalled.
type WhenDown string

const (
	// AllowWhenDown lets the agent stop.
	AllowWhenDown WhenDown = "allow"
	// BlockWhenDown does not.
	BlockWhenDown WhenDown = "block"
)

// mostAgents is more agents than any machine runs at once.
const mostAgents = 10_000

func (l *Lifecycle) fields() []field {
	return []field{
		document.Key("when_daemon_down", &l.WhenDaemonDown, oneOf(AllowWhenDown, BlockWhenDown), "Whether an agent may stop when the daemon is unreachable.").Default(AllowWhenDown),
		document.Key("max_agents", &l.MaxAgents, count(1, mostAgents), "How many agents may run at once on this machine. Default: no limit."),
	}
}
