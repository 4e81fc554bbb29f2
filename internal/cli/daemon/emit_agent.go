package daemon

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// emitters are the agents that something can be said about.
type emitters struct {
	state string // directory
	own   string // the agent in whose shell we are; "" outside
}

// meant is the agent that an id names, or a prefix of it. An agent speaks for itself alone: by
// its own id, or by that of the one before it, which is the one that its conversation knows.
func (e emitters) meant(id string) (string, error) {
	id, err := e.whole(id)
	switch {
	case err != nil:
		return "", err
	case e.own == "" || id == e.own || !e.known(e.own):
		return id, nil
	case e.session(id) != "" && e.session(id) == e.session(e.own):
		return e.own, nil
	}
	err = fmt.Errorf("an agent can only report its own events, and agent %s is another agent", term.Shown(id))
	return "", term.WithHint(err, "your id is "+e.own)
}

// whole is the only id that begins so. An event of an unknown agent would never be read.
func (e emitters) whole(id string) (string, error) {
	found := map[string]string{}
	for _, one := range agentdir.Find(e.state, id) {
		found[one] = ""
	}
	hint := "list agents with: stopgate agent list --all"
	if e.own != "" && e.known(e.own) {
		hint = "your id is " + e.own
	}
	return term.OnlyOne(id, found, "agent", hint)
}

func (e emitters) known(id string) bool {
	dir, err := agentdir.At(e.state, id)
	return err == nil && dir.Exists()
}

// session is Claude Code's session of an agent, or "".
func (e emitters) session(id string) string {
	dir, err := agentdir.At(e.state, id)
	if err != nil {
		return ""
	}
	s, err := dir.Session()
	if err != nil {
		return ""
	}
	return s.ID
}
