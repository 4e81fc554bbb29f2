package stop

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// beside finds approved projects, in all worktrees of their repositories, that the session's shell commands lead to. Hooks
// report files that edit tools write and changes of the directory, but not what a command changes elsewhere. It leaves out
// projects above and below those where the session works, projects in which another session works, and paths that
// commands only read. Each command is read once.
func (c *call) beside(payload hook.Payload, session *footprint.Session, known []string) (roots []string) {
	path := payload.Common().TranscriptPath
	if !c.enforces() || session.Prompted.IsZero() || path == "" {
		return nil
	}
	stands := append(c.starts(payload), known...)
	candidates := c.apart(known, stands)
	if len(candidates) == 0 {
		return nil
	}

	from := int64(0)
	if session.Transcript == path {
		from = session.ReadTo
	}
	commands, next, err := transcript.Commands(path, from, maxTranscript)
	if err != nil {
		return nil
	}
	c.read = reading{path, next}
	var acting []string
	for _, command := range commands {
		if command.IsLine {
			command.Text = footprint.Acting(command.Text)
		}
		if command.Text != "" {
			acting = append(acting, command.Text)
		}
	}
	if len(acting) == 0 {
		return nil
	}
	leadTo := func(top string) bool {
		return slices.ContainsFunc(acting, func(text string) bool { return footprint.Leads(text, top, stands) })
	}

	var named []footprint.Candidate
	for _, one := range candidates {
		top, found := paths.GitRoot(one.Root)
		if (leadTo(one.Root) || found && top != one.Root && leadTo(top)) && c.nearest(one.Root) == one.Root {
			named = append(named, one)
		}
	}
	return rootsOf(c.unclaimed(named, session, session.Prompted))
}

// apart are the approved projects and their places in all worktrees of their repositories that have trees of their own
// beside the directories where the agent works.
func (c *call) apart(known, stands []string) (all []footprint.Candidate) {
	approved := trust.NewStore(c.StateDir).Roots()
	for _, root := range approved {
		all = append(all, footprint.Candidate{Root: root})
	}
	all = append(all, footprint.Worktrees(slices.Concat(approved, known), time.Time{})...)
	return slices.DeleteFunc(all, func(one footprint.Candidate) bool {
		return slices.ContainsFunc(stands, func(stand string) bool { return stand != "" && !isApart(one.Root, paths.Canonical(stand)) })
	})
}

// isApart reports whether a project has a tree of its own beside a directory: neither lies in the other, or they are in two
// worktrees of a repository, one of which may be inside the other.
func isApart(root, stand string) bool {
	if !isWithin(stand, root) && !isWithin(root, stand) {
		return true
	}
	top, _ := paths.GitRoot(root)
	other, _ := paths.GitRoot(stand)
	if top == other {
		return false
	}
	common, _, found := paths.Repository(root)
	theirs, _, in := paths.Repository(stand)
	return found && in && common == theirs
}

// reading is how far a transcript was read for commands.
type reading struct {
	path string
	to   int64
}

// isWithin reports whether a path is a folder or lies in it.
func isWithin(path, folder string) bool {
	path, folder = filepath.Clean(path), filepath.Clean(folder)
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}
