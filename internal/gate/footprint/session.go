// Package footprint knows where a session has worked: its directories, and for each project in
// them the tree that the agent found. A stop is judged in all of these places, and only
// for what the session itself has changed.
package footprint

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// Session is what is known of one session of a client, and of those that it goes on from:
// after /clear, resume and fork the work is the same.
type Session struct {
	ID string `json:"id"`
	// Origin is the first session that this one goes on from; its own id where there is
	// none.
	Origin string    `json:"origin"`
	Began  time.Time `json:"began"`
	// Whole means that it is known from its beginning, before the agent did anything.
	Whole bool `json:"whole,omitempty"`
	// Prompted is when the first prompt of such a session was sent, or a person's later one after a stop that was Judged: what
	// changed before then, in a tree that the session was not seen in, is not its work.
	Prompted time.Time `json:"prompted,omitzero"`
	// Begins is where the transcript goes on after that prompt.
	Begins Mark `json:"begins,omitzero"`
	// Worked are the projects in which hooks have shown the agent at work since then.
	Worked []string `json:"worked,omitempty"`
	// Clients are the processes that have run the session, the latest last.
	Callers []process.Identity `json:"clients,omitempty"`
	// Prompts counts all that were sent, and ByPerson those that a person wrote.
	Prompts  int `json:"prompts,omitempty"`
	ByPerson int `json:"by_person,omitempty"`
	// Judged means that the last turn ended in a stop that was looked at, with nothing left
	// running, and no hook has shown the agent at work since: what changes from then until the
	// next prompt is a person's. Ended is where the transcript was at that stop.
	Judged bool `json:"judged,omitempty"`
	Ended  Mark `json:"ended,omitzero"`
	// Scheduled are prompts that the agent has told Claude Code to send later.
	Scheduled []string `json:"scheduled,omitempty"`
	// Roots are the projects in which the session has worked, the oldest first.
	Roots []string `json:"roots,omitempty"`
	// Strange are projects in which it has worked that were never approved.
	Strange []string `json:"strange,omitempty"`
	// Trees are those that were looked at, by their roots.
	Trees map[string]Tree `json:"trees,omitempty"`
	// Made are the commits that the session made in linked worktrees, which may be removed:
	// wherever they are merged, they are the session's.
	Made []string `json:"made,omitempty"`
	// Passed are the commits that HEAD was when gates passed with nothing uncommitted, the latest last.
	Passed []string `json:"passed,omitempty"`
	// Transcript is the one that was read for commands that lead to other projects, and ReadTo how far.
	Transcript string `json:"transcript,omitempty"`
	ReadTo     int64  `json:"read_to,omitempty"`
	// Told are worktrees that a person was told of.
	Told []string `json:"told,omitempty"`
}

// Mark is a place in a transcript.
type Mark struct {
	Transcript string `json:"transcript,omitempty"`
	At         int64  `json:"at,omitempty"`
}

// Tree is a project's working tree, as a session sees it.
type Tree struct {
	// Baseline is the tree that the agent found or left behind green; empty where it is not
	// known.
	Baseline string `json:"baseline,omitempty"`
	// Since says what made it the baseline, in a word of event.Tree; empty where an older stopgate wrote it.
	Since string `json:"since,omitempty"`
	// Reflog is git's log of HEAD when the session began; zero where that is not known.
	Reflog change.Reflog `json:"reflog,omitzero"`
	// Rules are those by which git ignored files when the session began, see change.Start; empty where that is not known.
	Rules string `json:"rules,omitempty"`
	// Partial is a tree that holds more or less than a commit, and that commit, which was HEAD; empty where none is known.
	Partial string `json:"partial,omitempty"`
	// Red means that a stop of this session was refused here, and none has passed since.
	Red bool `json:"red,omitempty"`
	// GitDir is what git keeps of a red worktree, which leads to it if it is moved, Common the
	// repository, and Within the project's place in it.
	GitDir string `json:"git_dir,omitempty"`
	Common string `json:"common,omitempty"`
	Within string `json:"within,omitempty"`
	// Born is when git made the worktree: another one may have taken its place. Zero where that is not known.
	Born int64 `json:"born,omitzero"`
	// Observed means that the stop was not refused, because the project or the user observes.
	Observed bool `json:"observed,omitempty"`
	// Missed means that a stop was refused because the tree is gone.
	Missed bool `json:"missed,omitempty"`
}

const (
	// maxRoots bounds what is remembered of an agent that wanders through a large tree. The
	// first and the latest are the ones that matter.
	maxRoots     = 64
	maxCallers   = 8
	maxMade      = 500
	maxPassed    = 100
	maxScheduled = 64
	// maxPrompt is more bytes than Claude Code tells of a scheduled prompt, which it clips at a
	// thousand characters.
	maxPrompt = 5000
)

// Visit remembers a project that the session works in.
func (s *Session) Visit(root string) {
	if root == "" || slices.Contains(s.Roots, root) {
		return
	}
	s.Roots = append(s.Roots, root)
	if len(s.Roots) > maxRoots {
		s.Roots = slices.Delete(s.Roots, 1, 2)
	}
}

// Work remembers a project in which the agent was seen at work.
func (s *Session) Work(root string) {
	if !slices.Contains(s.Worked, root) {
		s.Worked = append(s.Worked, root)
	}
}

// Commit remembers commits that the session made in a linked worktree.
func (s *Session) Commit(commits []string) {
	for _, commit := range commits {
		if !slices.Contains(s.Made, commit) {
			s.Made = append(s.Made, commit)
		}
	}
	s.Made = s.Made[max(0, len(s.Made)-maxMade):]
}

// Pass remembers a commit that HEAD was when gates passed.
func (s *Session) Pass(head string) {
	if head == "" || slices.Contains(s.Passed, head) {
		return
	}
	s.Passed = append(s.Passed, head)
	s.Passed = s.Passed[max(0, len(s.Passed)-maxPassed):]
}

// Schedule remembers the prompts that Claude Code will send by itself.
func (s *Session) Schedule(prompts []string) {
	prompts = slices.DeleteFunc(prompts, func(text string) bool { return len(text) > maxPrompt })
	s.Scheduled = prompts[:min(len(prompts), maxScheduled)]
}

// Stray remembers a project that was never approved.
func (s *Session) Stray(root string) {
	if root != "" && !slices.Contains(s.Strange, root) && len(s.Strange) < maxRoots {
		s.Strange = append(s.Strange, root)
	}
}

// RunBy remembers a client that runs the session. A fork begins under the old id, so the
// same session may have two at a time.
func (s *Session) RunBy(caller process.Identity) {
	if caller.PID == 0 || slices.Contains(s.Callers, caller) {
		return
	}
	s.Callers = append(s.Callers, caller)
	s.Callers = s.Callers[max(0, len(s.Callers)-maxCallers):]
}

// mayWork reports whether the agent may be at work: it was told something, its last turn has not ended in a stop that was
// judged and let go, and one of its clients lives, where they are known.
func (s *Session) mayWork() bool {
	return !s.Judged && (s.Prompts > 0 || !s.Whole) && (len(s.Callers) == 0 || slices.ContainsFunc(s.Callers, process.Identity.Lives))
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

// RulesIn are the rules by which git ignored files in a tree when the session began. A worktree that is newer has those of
// another one of its repository.
func (s *Session) RulesIn(root string) string {
	root = paths.Canonical(root)
	if rules := s.Trees[root].Rules; rules != "" {
		return rules
	}
	common, within, found := paths.Repository(root)
	if !found {
		return ""
	}
	for _, other := range slices.Sorted(maps.Keys(s.Trees)) {
		if rules := s.Trees[other].Rules; rules != "" {
			if c, w, found := paths.Repository(other); found && c == common && w == within {
				return rules
			}
		}
	}
	return ""
}

// DropGone forgets the trees whose directories are gone. A red one is kept: git may know
// where it was moved to.
func (s *Session) DropGone() {
	maps.DeleteFunc(s.Trees, func(root string, tree Tree) bool { return !tree.Red && isGone(root) })
}

// Missing reports whether the tree at root is red, and gone without git's knowledge.
func (s *Session) Missing(root string) bool {
	if s == nil {
		return false
	}
	tree := s.Trees[root]
	return tree.Red && tree.Now(root, s.Roots) == "" && !tree.Removed(root)
}

// FollowMoved gives what is known of a red tree the place where the tree is now.
func (s *Session) FollowMoved(from, to string) {
	tree, known := s.Trees[from]
	if !known {
		return // another hook has done it
	}
	s.SetTree(to, func(t *Tree) {
		if t.Baseline != "" {
			tree.Baseline, tree.Since = t.Baseline, t.Since
		}
		*t = tree
	})
	delete(s.Trees, from)
}

// Prompt names the last prompt that a person wrote; empty where there was none.
func (s *Session) Prompt() string {
	if s == nil || s.ByPerson == 0 {
		return ""
	}
	return fmt.Sprintf("%s#%d", s.Origin, s.ByPerson)
}

// successor is a session that goes on from this one under another id.
func (s *Session) successor(id string) *Session {
	next := *s
	next.ID = id
	return &next
}
