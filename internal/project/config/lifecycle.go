package config

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

// MostAgents is more agents than any machine runs at once.
const MostAgents = 10_000

func readLifecycle(v value, to *Lifecycle) {
	v.mapping(
		field{key: "when_daemon_down", read: func(v value) { oneOf(v, &to.WhenDaemonDown, AllowWhenDown, BlockWhenDown) }},
		field{key: "max_agents", read: func(v value) { v.count(&to.MaxAgents, 1, MostAgents) }},
	)
}
