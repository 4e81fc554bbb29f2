package plane

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/cli/term"
)

// emitters are the agents that something can be said about.
type emitters struct {
	state string // directory
	own   string // the agent in whose shell we are; "" outside
}

// meant is the agent that an id names, which may be cut. An agent speaks for itself alone:
// by its own id, or by that of the one before it, which is the one that its conversation
// knows.
func (e emitters) meant(id string) (string, error) {
	id = e.whole(id)
	switch {
	case e.own == "" || id == e.own || !e.known(e.own):
		return id, nil
	case e.session(id) != "" && e.session(id) == e.session(e.own):
		return e.own, nil
	}
	err := fmt.Errorf("an agent speaks for itself only, and agent %s is another one", term.Shown(id))
	return "", term.CannotRun(err, "yours is "+e.own)
}

// whole is the id that begins so, if only one does.
func (e emitters) whole(id string) string {
	if e.known(id) {
		return id
	}
	entries, _ := os.ReadDir(filepath.Join(e.state, "agents")) // none: there are no agents
	found := ""
	for _, entry := range entries {
		switch {
		case !strings.HasPrefix(entry.Name(), id):
		case found != "":
			return id
		default:
			found = entry.Name()
		}
	}
	if found == "" {
		return id
	}
	return found
}

func (e emitters) known(id string) bool {
	dir, err := agentdir.At(e.state, id)
	return err == nil && dir.Exists()
}

// session is the client's session of an agent, or "".
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
