package stop

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gauntlet"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/keeper"
	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/process"
	"github.com/stopgate/stopgate/internal/settings"
	"github.com/stopgate/stopgate/internal/trust"
	"github.com/stopgate/stopgate/internal/work"
)

// follow keeps what is known of where the session works, and gives it; nil where nothing
// is. What cannot be written only means that stops are judged that need not be.
func (c *call) follow(payload hook.Payload) *work.Session {
	base := payload.Common()
	store := work.NewStore(c.StateDir)
	session := store.Load(base.SessionID)
	dirs := visited(payload)
	begins := beginning(payload)
	if session != nil && begins == nil && !slices.ContainsFunc(dirs, func(dir string) bool { return !slices.Contains(session.Dirs, dir) }) {
		return session
	}

	err := store.Update(base.SessionID, process.Caller(), c.start, func(s *work.Session) bool {
		changed := false
		for _, dir := range dirs {
			changed = s.Visit(dir) || changed
		}
		if begins != nil {
			s.Source, changed = begins.Source, true
		}
		session = s
		return changed
	})
	if err != nil {
		c.logf("remember where the session works: %v", err)
	}
	return session
}

// trees are where a stop is judged, the call's own project first. What is to be said of the
// others is added to the place.
func (c *call) trees(place *Place, payload hook.Payload, session *work.Session) (trees []keeper.Tree) {
	if payload.Event() != hook.Stop || place.Off {
		return nil
	}
	add := func(project *keeper.Project) {
		if project == nil {
			return
		}
		tree := keeper.Tree{Project: project}
		if session != nil {
			known := session.Trees[real(project.Root)]
			tree.Baseline, tree.Red = known.Baseline, known.Red
		}
		trees = append(trees, tree)
	}
	add(place.Project)
	for _, root := range c.others(place.Root, payload, session) {
		other := c.locate(root, payload)
		place.Opinions = append(place.Opinions, other.Opinions...)
		add(other.Project)
	}
	return trees
}

// prompted remembers the tree that the agent finds when it begins to work on a prompt. That
// is the baseline at the session's first prompt, and at a person's next one if nobody but
// the person can have changed anything since the last stop.
func (c *call) prompted(ctx context.Context, payload hook.Payload, place Place, session *work.Session) {
	p, is := payload.(*hook.UserPromptSubmitPayload)
	if !is || session == nil || p.AgentID != "" {
		return
	}
	person, first := !p.OfTask(), session.Prompt == ""
	found := map[string]string{}
	if first || person && session.Judged {
		found = c.lookAround(ctx, place, session)
	}
	err := work.NewStore(c.StateDir).Update(session.ID, session.Client, c.start, func(s *work.Session) bool {
		for root, tree := range found {
			s.SetTree(root, func(t *work.Tree) { t.Baseline = tree })
		}
		if person {
			s.Prompt = p.PromptID
		}
		s.Judged = false
		return true
	})
	if err != nil {
		c.logf("remember what the agent found: %v", err)
	}
}

// lookAround looks at the trees of a session, for as long as a prompt may wait.
func (c *call) lookAround(ctx context.Context, place Place, session *work.Session) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	found := map[string]string{}
	look := func(project *keeper.Project) {
		if project != nil {
			found[real(project.Root)] = gauntlet.TreeOf(ctx, project, c.StateDir, c.Environ, c.Now)
		}
	}
	look(place.Project)
	for root := range session.Trees {
		if place.Project == nil || root != real(place.Root) {
			look(Locator{c.StateDir, c.global, c.globalErr}.Locate(root, false).Project)
		}
	}
	return found
}

// settle remembers what a stop came to: where it passed, the agent has left the tree as it
// is meant to be; where it was refused, it has something to answer for.
func (c *call) settle(payload hook.Payload, session *work.Session, j Judgement) {
	p, is := payload.(*hook.StopPayload)
	trees := j.trees()
	if !is || session == nil || len(trees) == 0 {
		return
	}
	err := work.NewStore(c.StateDir).Update(session.ID, session.Client, c.start, func(s *work.Session) bool {
		s.Judged = j.Blocked < 0 && len(p.BackgroundTasks) == 0
		for _, tree := range trees {
			s.SetTree(real(tree.Root), func(t *work.Tree) {
				switch gauntlet.Status(tree.Status) {
				case gauntlet.Passed, gauntlet.PassedWithWarnings, gauntlet.NoApplicableGates, gauntlet.Unchanged:
					t.Baseline, t.Red = tree.Tree, false
				case gauntlet.Failed:
					t.Red = true
				case gauntlet.RetryLimitExceeded:
				default:
					s.Judged = false
				}
			})
		}
		return true
	})
	if err != nil {
		c.logf("remember what the stop came to: %v", err)
	}
}

// beginning is the start of a session; nil where the call is another.
func beginning(payload hook.Payload) *hook.SessionStartPayload {
	p, _ := payload.(*hook.SessionStartPayload)
	return p
}

// visited are the directories that a call shows the session in: its own, where it goes, and
// those of the files that its edit tools name.
func visited(payload hook.Payload) []string {
	dirs := []string{payload.Common().CWD}
	switch p := payload.(type) {
	case *hook.CwdChangedPayload:
		dirs = append(dirs, p.NewCWD)
	case *hook.PreToolUsePayload:
		dirs = append(dirs, edited(p.ToolUse, p.CWD))
	case *hook.PostToolUsePayload:
		dirs = append(dirs, edited(p.ToolUse, p.CWD))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// edited is the directory of the file that an edit tool names; empty for other tools.
func edited(use hook.ToolUse, cwd string) string {
	if !slices.Contains(settings.EditTools, use.ToolName) {
		return ""
	}
	var file struct {
		Path     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	if json.Unmarshal(use.ToolInput, &file) != nil {
		return ""
	}
	path := file.Path
	if path == "" {
		path = file.Notebook
	}
	if path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	return filepath.Dir(path)
}

// others are the projects besides root that a stop is judged in: the nearest one upward
// from every place where the session has worked, worktrees that it made, and those where it
// was refused and has not passed since. Where trust is enforced only approved ones count.
func (c *call) others(root string, payload hook.Payload, session *work.Session) (roots []string) {
	starts := c.starts(payload)
	var red []string
	if session != nil {
		starts = append(starts, session.Dirs...)
		starts = append(starts, c.worktrees(root, payload, session)...)
		for tree, known := range session.Trees {
			if known.Red {
				red = append(red, tree)
			}
		}
		slices.Sort(red)
	}
	seen := map[string]bool{real(root): true}
	for _, start := range starts {
		if found := c.nearest(start); found != "" && !seen[real(found)] {
			seen[real(found)] = true
			roots = append(roots, found)
		}
	}
	for _, tree := range red {
		if !seen[real(tree)] {
			seen[real(tree)] = true
			roots = append(roots, tree)
		}
	}
	return roots
}

// nearest is the nearest project upward from a directory; empty where there is none.
func (c *call) nearest(start string) string {
	isProject := paths.HasConfig
	if c.enforces() {
		isProject = trust.NewStore(c.StateDir).Gated
	}
	root, _ := paths.ProjectRoot(isProject, start)
	return root
}

// worktrees are those of the project's repository that this session made: they are newer
// than it, and its transcript speaks of them. Other sessions make worktrees at the same
// time.
func (c *call) worktrees(root string, payload hook.Payload, session *work.Session) (made []string) {
	common, _, found := paths.Repository(root)
	if root == "" || !found {
		return nil
	}
	links, _ := filepath.Glob(filepath.Join(common, "worktrees", "*", "gitdir"))
	var said []byte
	for _, link := range links {
		info, err := os.Stat(link)
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(session.Began) {
			continue
		}
		text, err := os.ReadFile(link)
		if err != nil {
			continue
		}
		tree := filepath.Dir(strings.TrimSpace(string(text)))
		if said == nil {
			said, _ = os.ReadFile(payload.Common().TranscriptPath) // without one nothing is known
		}
		if bytes.Contains(said, []byte(filepath.Base(tree))) {
			made = append(made, tree)
		}
	}
	return made
}

// real is one path for a directory, however it is reached.
func real(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return filepath.Clean(dir)
}
