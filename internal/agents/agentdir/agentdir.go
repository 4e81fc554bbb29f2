// Package agentdir is the directory of one agent in the state directory: what the daemon
// tells the agent's hooks, and what they keep for it and for people.
//
//	config.json      {"on_stop": …}, written before the agent starts
//	settings.json    the hooks that Claude Code gets besides those of its settings files
//	session.json     Claude Code's session that counts as the agent
//	last.json        what the agent said last
//	asked/REF.json   what it asks a person
//	terminal.json    where Claude Code is to be seen
//	spent.json       what of its transcripts counts as spent by the agent
//	prompt.md        what Claude Code was told first
//	inbox/           messages to an agent that is no client
//
// Hooks read and write it in each call: reading is lenient, writing is atomic.
package agentdir

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// The variables that name the agent to what runs in it; the second is the plan's.
const (
	Variable    = "STOPGATE_AGENT_ID"
	OldVariable = "OJ_AGENT_ID"
)

// What is kept at most.
const (
	MaxMessage = 8 << 10   // of what the agent said last
	MaxInput   = 256 << 10 // of what it asks
	maxFile    = 1 << 20   // of anything that is read
)

// Dir is an agent's directory. It need not be there.
type Dir struct{ path string }

// At is the directory of an agent. The id becomes part of a path, so it must be a plain
// name.
func At(stateDir, id string) (Dir, error) {
	if !plain.IsName(id, 64) {
		return Dir{}, fmt.Errorf("invalid agent id %.80q", id)
	}
	return Dir{filepath.Join(stateDir, "agents", id)}, nil
}

// Find lists the agents that the daemon has started whose ids begin so. An id in full is the only
// one.
func Find(stateDir, prefix string) (ids []string) {
	switch dir, err := At(stateDir, prefix); {
	case err != nil:
		return nil // no id begins so
	case dir.Exists():
		return []string{prefix}
	}
	entries, _ := os.ReadDir(filepath.Join(stateDir, "agents")) // none: there are no agents
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), prefix) {
			ids = append(ids, entry.Name())
		}
	}
	return ids
}

// FromEnviron is the id of the agent that a process belongs to; empty where it belongs to
// none, or to what can be none.
func FromEnviron(env []string) string {
	for _, name := range []string{Variable, OldVariable} {
		if id := environ.Get(env, name); plain.IsName(id, 64) {
			return id
		}
	}
	return ""
}

// Path is a path in the directory.
func (d Dir) Path(names ...string) string {
	return filepath.Join(append([]string{d.path}, names...)...)
}

// Exists reports whether the daemon has ever started such an agent.
func (d Dir) Exists() bool {
	info, err := os.Stat(d.path)
	return err == nil && info.IsDir()
}

// read reads a file that somebody may have put a pipe or something huge in place of.
func (d Dir) read(names ...string) ([]byte, error) {
	return regular.Read(d.Path(names...), maxFile)
}

// durable writes what must not be lost with the power.
func (d Dir) durable(v any, names ...string) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(d.Path(names...), text, 0o600)
}

// passing writes what nobody needs any more when the power is lost, since the agent is
// gone then as well.
func (d Dir) passing(text []byte, names ...string) error {
	return atomicfile.Replace(d.Path(names...), text, 0o600)
}

// clip keeps the end of a text: that is where a question stands.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "…"
	return mark + strings.ToValidUTF8(text[len(text)-most+len(mark):], "")
}
