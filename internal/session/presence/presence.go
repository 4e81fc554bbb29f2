// Package presence keeps what the hooks told about the interactive client in each
// tmux pane: which session it is in, and whether it is free.
package presence

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/atomicfile"
	"github.com/stopgate/stopgate/internal/sys/digest"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
	"github.com/stopgate/stopgate/internal/sys/statefile"
)

// Instance is Claude Code in a pane.
type Instance struct {
	Session string    `json:"session"` // tmux's name of it
	Socket  string    `json:"socket"`
	PID     int       `json:"pid"` // of the tmux server
	Pane    string    `json:"pane"`
	State   State     `json:"state"`
	Since   time.Time `json:"since"` // when the state began
	// Told is the prompt after whose stop the session's agent was told that Claude Code is free;
	// noPrompt for a client that names none, empty where the agent was not told.
	Told string `json:"told,omitempty"`
}

// noPrompt stands for the prompts of clients before prompt ids.
const noPrompt = "-"

// Tell is Claude Code once its agent was told of a stop of that prompt.
func (c Instance) Tell(prompt string) Instance {
	c.Told = cmp.Or(prompt, noPrompt)
	return c
}

// ToldOf reports whether Claude Code's agent was told of the stop after that prompt.
func (c Instance) ToldOf(prompt string) bool {
	return c.Told != "" && (c.Told == noPrompt || prompt == "" || c.Told == prompt)
}

// State is what an instance is doing.
type State string

// The states.
const (
	Free   State = "free"   // it waits for a prompt
	Busy   State = "busy"   // it works on one
	Asking State = "asking" // it waits for a person's answer
	Ended  State = "ended"
)

// After is Claude Code as an event leaves it. A stop that was blocked is not told.
func (c Instance) After(payload hook.Payload, now time.Time) Instance {
	state := c.State
	if _, notice := payload.(*hook.NotificationPayload); !notice {
		c.Told = "" // everything else is news
	}

	switch p := payload.(type) {
	case *hook.SessionStartPayload:
		if p.Source != "compact" || state == "" { // in the middle of a turn it changes nothing
			state = Free
		}
	case *hook.UserPromptSubmitPayload:
		state = Busy
	case *hook.StopPayload, *hook.StopFailurePayload:
		state = Free
	case *hook.PermissionRequestPayload:
		c.State, state = "", Asking // a dialog of its own, also after another one
	case *hook.NotificationPayload:
		state = notified(state, p.NotificationType)
	case *hook.SessionEndPayload:
		if p.Reason != "clear" && p.Reason != "resume" {
			state = Ended
		}
	}

	if state != c.State {
		c.State, c.Since = state, now.UTC()
	}
	return c
}

func notified(state State, kind string) State {
	switch kind {
	case "idle_prompt":
		return Free
	case "permission_prompt", "agent_needs_input":
		return Asking
	}
	return state
}

// Book keeps the clients on disk, a file for each pane.
type Book struct{ dir string }

// maxSize is far more than is known about a client.
const maxSize = 1 << 20

// NewBook keeps them below the state directory.
func NewBook(stateDir string) Book { return Book{filepath.Join(stateDir, "presence")} }

// Load is what is known about Claude Code in a pane.
func (b Book) Load(socket string, pid int, pane string) (Instance, bool) {
	c, err := statefile.Read[Instance](b.path(socket, pid, pane), maxSize)
	return c, err == nil && c.Socket == socket && c.PID == pid && c.Pane == pane
}

// Store writes down what is known about a client.
func (b Book) Store(c Instance) error {
	text, err := rawjson.Lines(c)
	if err != nil {
		return err
	}
	return atomicfile.Replace(b.path(c.Socket, c.PID, c.Pane), text, 0o600)
}

// Find lists the clients in a tmux session, the one whose state changed last first.
// The same name may be used on several tmux servers.
func (b Book) Find(session string) []Instance {
	all := b.All()
	return slices.DeleteFunc(all, func(c Instance) bool { return c.Session != session })
}

// All lists the clients, the one whose state changed last first.
func (b Book) All() []Instance {
	entries, _ := os.ReadDir(b.dir) // none: nobody was heard of
	var all []Instance
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		if c, err := statefile.Read[Instance](filepath.Join(b.dir, entry.Name()), maxSize); err == nil {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Instance) int { return b.Since.Compare(a.Since) })
	return all
}

// Sweep forgets clients that nobody has heard of for a month.
func (b Book) Sweep(now time.Time) {
	disk.Prune(b.dir, now.Add(-30*24*time.Hour), func(string) bool { return false })
}

// path is the pane's file. What names it comes from outside, so its hash is the name.
func (b Book) path(socket string, pid int, pane string) string {
	return filepath.Join(b.dir, digest.Hex(fmt.Sprintf("%s\x00%d\x00%s", socket, pid, pane))[:32]+".json")
}
