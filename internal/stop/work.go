package stop

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agentdir"
	"github.com/stopgate/stopgate/internal/gauntlet"
	"github.com/stopgate/stopgate/internal/gauntlet/change"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/keeper"
	"github.com/stopgate/stopgate/internal/paths"
	"github.com/stopgate/stopgate/internal/process"
	"github.com/stopgate/stopgate/internal/protect"
	"github.com/stopgate/stopgate/internal/transcript"
	"github.com/stopgate/stopgate/internal/trust"
	"github.com/stopgate/stopgate/internal/work"
)

// follow keeps what is known of where the session works, and gives it; nil where it has
// worked in no project. What cannot be written only means that stops are judged that need
// not be.
func (c *call) follow(payload hook.Payload, root string) *work.Session {
	base := payload.Common()
	c.beginning = work.Beginning{Root: real(root)}
	if p, is := payload.(*hook.SessionStartPayload); is {
		c.beginning.GoesOn = p.Source != "startup"
	}
	store := work.NewStore(c.StateDir)
	session := store.Load(base.SessionID)
	roots, stranger := c.visited(payload, root), c.stranger(payload)
	if session == nil && len(roots) == 0 {
		return nil
	}
	news := payload.Event() == hook.SessionStart || // a fork begins so, under the old id
		session != nil && stranger != "" && !slices.Contains(session.Strange, stranger)
	if session != nil && !news && !slices.ContainsFunc(roots, func(root string) bool { return !slices.Contains(session.Roots, root) }) {
		return session
	}
	return c.update(session, base.SessionID, func(s *work.Session) {
		for _, root := range roots {
			s.Visit(root)
		}
		s.Stray(stranger)
	})
}

// update changes what is known of a session, and gives what is known then.
func (c *call) update(session *work.Session, id string, change func(*work.Session)) *work.Session {
	by := c.beginning
	by.Client = process.Caller()
	err := work.NewStore(c.StateDir).Update(id, by, c.start, func(s *work.Session) {
		change(s)
		session = s
	})
	if err != nil {
		c.logf("remember where the session works: %v", err)
	}
	return session
}

// visited are the projects that a call shows the session in: its own, the one that it goes
// to, and that of the file which an edit tool names.
func (c *call) visited(payload hook.Payload, root string) (roots []string) {
	add := func(root string) {
		if root != "" && !slices.Contains(roots, real(root)) {
			roots = append(roots, real(root))
		}
	}
	add(root)
	switch p := payload.(type) {
	case *hook.CwdChangedPayload:
		add(c.nearest(p.NewCWD))
	case *hook.PreToolUsePayload:
		add(c.nearest(work.Edited(p.ToolUse, p.CWD)))
	case *hook.PostToolUsePayload:
		add(c.nearest(work.Edited(p.ToolUse, p.CWD)))
	}
	return roots
}

// trees are where a stop is judged, the call's own project first. What is to be said of the
// others is added to the place.
func (c *call) trees(ctx context.Context, place *Place, payload hook.Payload, session *work.Session) (trees []keeper.Tree) {
	if payload.Event() != hook.Stop {
		return nil
	}
	add := func(project *keeper.Project) {
		if project == nil {
			return
		}
		tree := keeper.Tree{Project: project}
		if session != nil {
			known := session.Trees[real(project.Root)]
			tree.Baseline, tree.Red, tree.Since, tree.Reflog = known.Baseline, known.Red, session.Began, known.Reflog
		}
		trees = append(trees, tree)
	}
	add(place.Project)
	c.strange(place, session)
	for _, root := range c.others(ctx, place.Root, payload, session) {
		other := c.locate(root, payload)
		place.Opinions = append(place.Opinions, other.Opinions...)
		place.Held = cmp.Or(place.Held, other.Held)
		add(other.Project)
	}
	return trees
}

// stranger is the project that was never approved in which a call shows the session, by
// where it stands or by a file that a tool has written; empty where there is none. A copy or
// a clone of an approved project is one.
func (c *call) stranger(payload hook.Payload) string {
	dir := ""
	switch p := payload.(type) {
	case *hook.StopPayload:
		dir = p.CWD
	case *hook.PostToolUsePayload:
		dir = work.Edited(p.ToolUse, p.CWD)
	}
	if !c.enforces() || !filepath.IsAbs(dir) {
		return ""
	}
	root, _ := paths.ProjectRoot(paths.HasConfig, dir)
	if root == "" || c.nearest(root) == root {
		return ""
	}
	return real(root)
}

// strange says of projects in which the agent has worked that they were never approved: the
// gates of another one answer.
func (c *call) strange(place *Place, session *work.Session) {
	if session == nil || place.Root == "" {
		return
	}
	for _, root := range session.Strange {
		var other Place
		if root != real(place.Root) && c.nearest(root) != root {
			other.distrust(filepath.Join(root, paths.GauntletDir))
		}
		place.Opinions = append(place.Opinions, other.Opinions...)
	}
}

// prompted remembers the trees that the agent finds when it begins to work on a prompt.
// They are its baseline at the session's first prompt, and at a person's next one if only
// the person can have changed anything since the last stop. typed means that we typed the
// prompt.
func (c *call) prompted(ctx context.Context, payload hook.Payload, place Place, session *work.Session, typed bool) {
	p, is := payload.(*hook.UserPromptSubmitPayload)
	if !is || p.AgentID != "" {
		return
	}
	below := rootsOf(c.below(payload))
	if session == nil && len(below) == 0 {
		return
	}
	person := !typed && !p.OfTask() && agentdir.FromEnviron(c.Environ) == ""
	found := map[string]string{}
	var projects []*keeper.Project
	begins := session == nil || session.Prompts == 0
	ctx, cancel := c.limit(ctx, c.timeout(payload, place.Project))
	defer cancel()
	ctx, over := context.WithTimeout(ctx, promptPatience)
	defer over()
	if begins || person && session.Judged {
		found, projects = c.lookAround(ctx, place, below, session)
	}
	session = c.update(session, p.SessionID, func(s *work.Session) {
		for root, tree := range found {
			first := s.Prompts == 0
			s.SetTree(root, func(t *work.Tree) {
				if t.Baseline = tree; first {
					t.Reflog = change.ReflogOf(root)
				}
			})
		}
		s.DropGone()
		s.Prompts++
		if person {
			s.ByPerson++
		}
		s.Judged = false
	})
	if begins && session != nil {
		c.protect(ctx, projects, session)
	}
}

// protect remembers the protected files that the agent finds at the first prompt. Where that
// fails, its stops are held to commits instead.
func (c *call) protect(ctx context.Context, projects []*keeper.Project, session *work.Session) {
	for _, project := range projects {
		place := protect.Place{
			Project: project, StateDir: c.StateDir, Environ: c.Environ, Now: c.Now, Session: session.Origin, Prompted: true,
			Since: change.Start{Time: session.Began, Reflog: session.Trees[real(project.Root)].Reflog},
		}
		if err := place.Begin(ctx); err != nil {
			c.logf("remember the protected files of %s: %v", project.Root, err)
		}
	}
}

// promptPatience is how long a prompt may wait for all that is remembered of trees.
const promptPatience = 10 * time.Second

// lookAround looks at the trees of a session.
func (c *call) lookAround(ctx context.Context, place Place, below []string, session *work.Session) (found map[string]string, projects []*keeper.Project) {
	found = map[string]string{}
	look := func(project *keeper.Project) {
		if project == nil {
			return
		}
		if _, seen := found[real(project.Root)]; !seen {
			found[real(project.Root)] = gauntlet.TreeOf(ctx, project, c.StateDir, c.Environ, c.Now)
			projects = append(projects, project)
		}
	}
	look(place.Project)
	roots := below
	if session != nil {
		roots = slices.Concat(roots, session.Roots, slices.Sorted(maps.Keys(session.Trees)))
	}
	for _, root := range roots {
		look(Locator{c.StateDir, c.global, c.globalErr}.Locate(root, false).Project)
	}
	return found, projects
}

// settle remembers what a stop came to: where it passed, the agent has left the tree as it
// is meant to be; where it was refused, it has something to answer for.
func (c *call) settle(payload hook.Payload, session *work.Session, j Judgement) {
	p, is := payload.(*hook.StopPayload)
	trees := j.trees()
	if !is || session == nil || len(trees) == 0 {
		return
	}
	c.update(session, p.SessionID, func(s *work.Session) {
		s.Judged = j.Blocked < 0 && len(p.BackgroundTasks) == 0
		for _, tree := range trees {
			s.SetTree(real(tree.Root), func(t *work.Tree) {
				switch gauntlet.Status(tree.Status) {
				case gauntlet.Passed, gauntlet.PassedWithWarnings, gauntlet.NoApplicableGates, gauntlet.Unchanged:
					t.Baseline, t.Red = tree.Tree, false
				case gauntlet.Failed:
					t.Red = true
					t.GitDir, _ = paths.GitDir(tree.Root)
					_, t.Within, _ = paths.Repository(tree.Root)
				case gauntlet.RetryLimitExceeded:
				default:
					s.Judged = false
				}
			})
		}
	})
}

// others are the projects besides root that a stop is judged in: those in which the session
// has worked, worktrees that it made, projects below the directory of a client that was
// started above them, and those where it was refused and has not passed since. Where trust
// is enforced only approved ones count.
func (c *call) others(ctx context.Context, root string, payload hook.Payload, session *work.Session) (roots []string) {
	seen := map[string]bool{real(root): true}
	add := func(root string) {
		if root != "" && !seen[real(root)] {
			seen[real(root)] = true
			roots = append(roots, root)
		}
	}
	for _, start := range c.starts(payload) {
		add(c.nearest(start))
	}
	if session == nil {
		return roots
	}
	for _, root := range session.Roots {
		add(c.nearest(root))
	}
	for _, root := range c.mentioned(ctx, root, payload, session) {
		add(c.nearest(root))
	}
	for _, tree := range slices.Sorted(maps.Keys(session.Trees)) {
		if !session.Trees[tree].Red {
			continue
		}
		if _, err := os.Stat(tree); err == nil {
			add(tree)
		} else {
			add(c.nearest(session.Trees[tree].Moved()))
		}
	}
	return roots
}

// nearest is the nearest project upward from a directory; empty where there is none.
func (c *call) nearest(start string) string {
	if !filepath.IsAbs(start) {
		return ""
	}
	isProject := paths.HasConfig
	if c.enforces() {
		isProject = trust.NewStore(c.StateDir).Gated
	}
	root, _ := paths.ProjectRoot(isProject, start)
	return root
}

// below are the approved projects in the directories of a client that was started above
// them. A transcript has them by the name of their repository, or by their place in the
// directory where that is in the repository itself.
func (c *call) below(payload hook.Payload) (all []work.Candidate) {
	if !c.enforces() {
		return nil
	}
	var above []string
	for _, start := range []string{payload.Common().CWD, c.getenv("CLAUDE_PROJECT_DIR")} {
		if filepath.IsAbs(start) && c.nearest(start) == "" {
			above = append(above, real(start)+string(filepath.Separator))
		}
	}
	if len(above) == 0 {
		return nil
	}
	for _, root := range trust.NewStore(c.StateDir).Roots() {
		i := slices.IndexFunc(above, func(dir string) bool { return strings.HasPrefix(root, dir) })
		if i < 0 {
			continue
		}
		name := filepath.ToSlash(strings.TrimPrefix(root, above[i]))
		if top, found := paths.GitRoot(root); found && strings.HasPrefix(top, above[i]) {
			name = filepath.Base(top)
		}
		all = append(all, work.Candidate{Root: root, Name: name})
	}
	return all[:min(len(all), maxBelow)]
}

// maxBelow bounds how many trees a prompt looks at for a client that was started above many.
const maxBelow = 16

// mentioned are projects that no hook named, but the session's transcript does: those below
// a client's directory, and worktrees that are newer than the session. Other sessions make
// worktrees at the same time.
func (c *call) mentioned(ctx context.Context, root string, payload hook.Payload, session *work.Session) (roots []string) {
	candidates := c.below(payload)
	known := session.Roots
	if root != "" {
		known = append([]string{root}, known...)
	}
	candidates = append(candidates, work.Worktrees(append(rootsOf(candidates), known...), session.Began)...)
	candidates = slices.DeleteFunc(candidates, func(one work.Candidate) bool { return slices.Contains(known, one.Root) })
	if len(candidates) == 0 {
		return nil
	}
	said, err := transcript.Tail(payload.Common().TranscriptPath, maxTranscript)
	if err != nil {
		return c.unclaimed(candidates, session)
	}
	ctx, cancel := context.WithTimeout(ctx, c.left(c.timeout(payload, nil)))
	defer cancel()
	mentions := map[string]bool{}
	for i, one := range candidates {
		if ctx.Err() != nil {
			return append(roots, c.unclaimed(candidates[i:], session)...)
		}
		if _, looked := mentions[one.Name]; !looked {
			mentions[one.Name] = work.Mentions(said, one.Name)
		}
		if mentions[one.Name] {
			roots = append(roots, one.Root)
		}
	}
	return roots
}

// unclaimed are, of candidates of which a transcript says nothing, those in which no other
// session has worked.
func (c *call) unclaimed(candidates []work.Candidate, session *work.Session) []string {
	taken := work.NewStore(c.StateDir).Roots(session.Origin)
	return slices.DeleteFunc(rootsOf(candidates), func(root string) bool { return slices.Contains(taken, real(root)) })
}

func rootsOf(candidates []work.Candidate) (roots []string) {
	for _, one := range candidates {
		roots = append(roots, one.Root)
	}
	return roots
}

// maxTranscript bounds how much of a transcript is looked through, from its end.
const maxTranscript = 256 << 20

// real is one path for a directory, however it is reached.
func real(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return filepath.Clean(dir)
}
