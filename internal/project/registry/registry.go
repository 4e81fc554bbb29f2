// Package registry reads agent-registry.json: which agent looks after Claude Code in
// which tmux session, how it is woken, and what may be done in its name.
package registry

import (
	"path/filepath"
	"slices"
	"strings"
)

// Path is where the registry lies: beside the global config.
func Path(configDir string) string { return filepath.Join(configDir, "agent-registry.json") }

// OutsideAgent is one entry: a program that is woken for sessions.
type OutsideAgent struct {
	AgentID           string
	SessionName       string // of tmux, or a pattern for several
	WorkingDirectory  string
	OpenclawSessionID string
	Enabled           bool
	Gateway           Gateway
	WakeOn            []string // kinds; nil for all
	Commands          []string // patterns of what may be typed; nil for everything
	Answers           []Rule
}

// The transports.
const (
	ViaOpenClaw     = "openclaw"
	ViaOpenClawHTTP = "openclaw-http"
	ViaWebhook      = "webhook"
	ViaCommand      = "command"
	ViaSession      = "session"
)

// Gateway is the way to an agent. What the file leaves out has its default here. It
// never holds a secret, only where to find one.
type Gateway struct {
	Transport string // "" where the entry is at fault: such a gateway takes nothing

	// Of ViaOpenClaw.
	Program     string
	MessageFile bool // the program takes --message-file

	// Of ViaOpenClawHTTP; the address of ViaWebhook too.
	URL                 string
	Endpoint            string // agent or wake
	SessionKey          string
	TokenEnv, TokenFile string // at most one of them; for the file see [File]

	// Of ViaWebhook.
	SecretEnv, SecretFile string // at most one of them

	Command []string // of ViaCommand
	Session string   // of ViaSession: the tmux session to type into
}

// Registry is the file as it was read.
type Registry struct {
	entries []entry
	unread  bool
}

// entry is an agent and whether it can be reached: whoever has no name cannot.
type entry struct {
	OutsideAgent
	named bool
}

// Agents are all entries that name an agent and a session, also disabled ones, in
// the order of the file.
func (r *Registry) Agents() []OutsideAgent {
	agents := []OutsideAgent{}
	for _, e := range r.entries {
		if e.named {
			agents = append(agents, e.OutsideAgent)
		}
	}
	return agents
}

// Unread reports that the file is there and could not be understood as a whole: nobody
// knows which agents there are. A missing file is not unread: there are none.
func (r *Registry) Unread() bool { return r.unread }

// Find finds the agent of a tmux session: by the exact name, else by the first
// pattern. Disabled entries are never found, and a name that only disabled ones have
// is not left to a pattern: somebody switched that session off.
//
// An agent that is not found may still forbid commands: that of an entry with a
// session but without an agent's name. One that is unread forbids all of them, for it
// may hold a list.
func (r *Registry) Find(session string) (agent OutsideAgent, found bool) {
	if r.unread {
		return OutsideAgent{Commands: []string{}}, false
	}
	if session == "" {
		return OutsideAgent{}, false
	}
	e := r.find(session)
	if e == nil {
		return OutsideAgent{}, false
	}
	if !e.named {
		return OutsideAgent{Commands: e.Commands}, false
	}
	return e.OutsideAgent, true
}

func (r *Registry) find(session string) *entry {
	off := false
	for i := range r.entries {
		if e := &r.entries[i]; e.SessionName == session {
			if e.Enabled {
				return e
			}
			off = true
		}
	}
	if off {
		return nil
	}
	for i := range r.entries {
		if e := &r.entries[i]; e.Enabled && IsPattern(e.SessionName) && globMatches(e.SessionName, session) {
			return e
		}
	}
	return nil
}

// Wakes reports whether the agent is told of this kind of event. What became of a
// queue it is always told.
func (a OutsideAgent) Wakes(kind string) bool {
	return a.WakeOn == nil || strings.HasPrefix(kind, queueKind) || slices.Contains(a.WakeOn, kind)
}

// Permits reports whether the command may be typed into the agent's session.
func (a OutsideAgent) Permits(command string) bool {
	if a.Commands == nil {
		return true
	}
	return slices.ContainsFunc(a.Commands, func(pattern string) bool { return matches(pattern, command, sameBytes) })
}

// queueKind begins the kinds that tell what became of a queue.
const queueKind = "queue_"

// kinds are those that wake_on may name.
func kinds() []string {
	return []string{
		"stop", "idle", "permission", "question", "stop_failure", "session_end",
		queueKind + "complete", queueKind + "cancelled", queueKind + "stale", queueKind + "failed",
	}
}

func transports() []string {
	return []string{ViaOpenClaw, ViaOpenClawHTTP, ViaWebhook, ViaCommand, ViaSession}
}
