// Package work knows where a session has worked: its directories, and for each project in
// them the tree that the agent found. A stop is judged in all of these places, and only
// for what the session itself has changed.
package work

import (
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/process"
)

// Session is what is known of one session of a client, and of those that it goes on from:
// after /clear, resume and fork the work is the same.
type Session struct {
	ID string `json:"id"`
	// Origin is the first session that this one goes on from; its own id where there is
	// none.
	Origin string    `json:"origin"`
	Began  time.Time `json:"began"`
	// Client is the process that runs the session.
	Client process.Identity `json:"client,omitzero"`
	// Source is how the client says that the session began: startup, resume, clear …
	Source string `json:"source,omitempty"`
	// Prompt is the last prompt that a person wrote.
	Prompt string `json:"prompt,omitempty"`
	// Judged means that the last turn ended in a stop that was looked at, with nothing left
	// running: what changes from then until the next prompt is a person's.
	Judged bool `json:"judged,omitempty"`
	// Dirs are where the session has worked, the oldest first.
	Dirs []string `json:"dirs,omitempty"`
	// Trees are the projects in them, by their roots.
	Trees map[string]Tree `json:"trees,omitempty"`
}

// Tree is a project's working tree, as a session sees it.
type Tree struct {
	// Baseline is the tree that the agent found or left behind green; empty where it is not
	// known.
	Baseline string `json:"baseline,omitempty"`
	// Head is the commit that the agent found.
	Head string `json:"head,omitempty"`
	// Red means that a stop of this session was refused here, and none has passed since.
	Red bool `json:"red,omitempty"`
}

// maxDirs bounds what is remembered: an agent may wander through a large tree. The first
// and the latest are the ones that matter.
const maxDirs = 64

// Visit remembers a directory that the session works in. It reports whether that is news.
func (s *Session) Visit(dir string) bool {
	if dir == "" || slices.Contains(s.Dirs, dir) {
		return false
	}
	s.Dirs = append(s.Dirs, dir)
	if len(s.Dirs) > maxDirs {
		s.Dirs = slices.Delete(s.Dirs, 1, 2)
	}
	return true
}

// SetTree changes what is known of a tree.
func (s *Session) SetTree(root string, change func(*Tree)) {
	if s.Trees == nil {
		s.Trees = map[string]Tree{}
	}
	tree := s.Trees[root]
	change(&tree)
	s.Trees[root] = tree
}

// successor is a session that goes on from this one under another id.
func (s *Session) successor(id string) *Session {
	next := *s
	next.ID = id
	return &next
}
