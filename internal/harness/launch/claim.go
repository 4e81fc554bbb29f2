package launch

import "github.com/stopgate/stopgate/internal/harness/hook"

// claim is the session that a launched client is in, as far as its hooks have
// told.
type claim struct {
	Session string `json:"session,omitempty"`
	// Confirmed says that a prompt was sent in the session. Until then another id
	// may be the right one: with --fork-session Claude Code's SessionStart carries the
	// id of the session that it forks from.
	Confirmed bool `json:"confirmed,omitempty"`
}

// after is the claim after one more event. A client that the agent starts itself
// has our id in its environment too, so once a session is confirmed those of others
// are ignored until it ends. /clear is typed into the Claude Code that has the terminal,
// and compacting keeps the id.
func (c claim) after(e hook.Event, source, session string) claim {
	switch {
	case session == "":
		return c
	case e == hook.SessionStart && session != c.Session && (c.Session == "" || source == "clear"):
		return claim{Session: session}
	case e == hook.UserPromptSubmit && !c.Confirmed:
		return claim{Session: session, Confirmed: true}
	case e == hook.SessionEnd && session == c.Session:
		return claim{}
	}
	return c
}
