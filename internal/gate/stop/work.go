package stop

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/disk"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
	"github.com/stopgate/stopgate/internal/sys/process"
)

// follow keeps what is known of where the session works, and gives it; nil where it has
// worked in no project. What cannot be written only means that stops are judged that need
// not be.
func (c *call) follow(ctx context.Context, payload hook.Payload, root string) *footprint.Session {
	session := footprint.NewStore(c.StateDir).Load(payload.Common().SessionID)
	roots, stranger := c.visited(ctx, payload, root), c.stranger(payload)
	if session == nil && len(roots) == 0 {
		return nil
	}
	working := atWork(payload)
	if session != nil && !isNews(payload, session, roots, stranger, working) {
		return session
	}
	return c.update(payload, root, session, func(s *footprint.Session) {
		for _, root := range roots {
			s.Visit(root)
			if working {
				s.Work(root)
			}
		}
		s.Stray(stranger)
		s.Judged = s.Judged && !working
	})
}

// isNews reports whether a call shows something of a session that is not known yet.
func isNews(payload hook.Payload, session *footprint.Session, roots []string, stranger string, working bool) bool {
	switch {
	case payload.Event() == hook.SessionStart, isCleared(payload): // a fork begins so, under the old id
		return true
	case working && session.Judged, stranger != "" && !slices.Contains(session.Strange, stranger):
		return true
	}
	return slices.ContainsFunc(roots, func(root string) bool {
		return !slices.Contains(session.Roots, root) || working && !slices.Contains(session.Worked, root)
	})
}

// isCleared reports whether a session ends by /clear: it is to be the latest one of its project, from which the next one goes on
// where no client is known.
func isCleared(payload hook.Payload) bool {
	p, is := payload.(*hook.SessionEndPayload)
	return is && p.Reason == "clear"
}

// update changes what is known of the session of a call in the project at root, and gives
// what is known then.
func (c *call) update(payload hook.Payload, root string, session *footprint.Session, change func(*footprint.Session)) *footprint.Session {
	err := footprint.NewStore(c.StateDir).Update(payload.Common().SessionID, beginning(payload, root), c.start, func(s *footprint.Session) {
		change(s)
		session = s
	})
	if err != nil {
		c.logf("record where the session works: %v", err)
	}
	return session
}

// beginning is what the session of a call is known by if its id is new.
func beginning(payload hook.Payload, root string) footprint.Beginning {
	by := footprint.Beginning{
		Caller: process.Caller(), Root: paths.Canonical(root),
		Whole: payload.Event() == hook.SessionStart || payload.Event() == hook.UserPromptSubmit,
	}
	if p, is := payload.(*hook.SessionStartPayload); is {
		by.GoesOn = p.Source != "startup"
	}
	return by
}

// visited are the projects that a call shows the session in: its own, the one that it goes
// to, and those of the files which an edit tool names.
func (c *call) visited(ctx context.Context, payload hook.Payload, root string) (roots []string) {
	add := func(root string) {
		if root != "" && !slices.Contains(roots, paths.Canonical(root)) {
			roots = append(roots, paths.Canonical(root))
		}
	}
	if p, is := payload.(*hook.CwdChangedPayload); is {
		add(c.around(ctx, p.NewCWD))
		return roots
	}
	add(root)
	switch p := payload.(type) {
	case *hook.PreToolUsePayload:
		for _, dir := range footprint.Edited(p.ToolUse, p.CWD) {
			add(c.around(ctx, dir))
		}
	case *hook.PostToolUsePayload:
		for _, dir := range footprint.Edited(p.ToolUse, p.CWD) {
			add(c.around(ctx, dir))
		}
	}
	return roots
}

// trees are where a stop is judged, the call's own project first. What is to be said of the
// others is added to the place.
func (c *call) trees(ctx context.Context, place *Place, payload hook.Payload, session *footprint.Session) (trees []keeper.Tree) {
	if payload.Event() != hook.Stop {
		return nil
	}

	add := func(project *keeper.Project) {
		if project == nil {
			return
		}
		tree := keeper.Tree{Project: project}
		if session != nil {
			known, looked := session.Trees[paths.Canonical(project.Root)]
			if !looked {
				known.Baseline, known.Since = c.asFound(ctx, project, payload, session), event.SinceStart
			}
			tree.Baseline, tree.Found, tree.Red = known.Baseline, known.Since, known.Red
			tree.Since = startOf(session, project.Root)
		}
		trees = append(trees, tree)
	}

	session = c.followMoved(payload, place.Root, session)
	if !session.Missing(paths.Canonical(place.Root)) {
		add(place.Project)
	}
	place.holdForeign(session)
	c.strange(place, session)
	c.vanished(place, payload, session)

	others, unnamed := c.others(ctx, place.Root, payload, session)
	c.tellUnnamed(place, payload, session, unnamed)
	c.nowhere = place.Root == "" && len(others) == 0
	for _, root := range others {
		other := c.locate(root, payload)
		other.holdForeign(session)
		place.Verdicts = append(place.Verdicts, other.Verdicts...)
		place.Held = cmp.Or(place.Held, other.Held)
		add(other.Project)
	}
	return trees
}

// asFound is the tree of a project that no prompt has looked at: as it is now, if nothing in it has
// changed since the prompt from which on changes can be the agent's. Then it has only looked at it. It is empty where that cannot be told.
func (c *call) asFound(ctx context.Context, project *keeper.Project, payload hook.Payload, session *footprint.Session) string {
	if session.Prompted.IsZero() {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, min(lookPatience, c.left(c.timeout(payload, nil))/2))
	defer cancel()
	root := paths.Canonical(project.Root)
	top := topOf(root)
	untouched := func() bool { return footprint.Untouched(ctx, top, c.StateDir, session.Prompted) }
	if !untouched() {
		return ""
	}
	tree := gauntlet.KeepTree(ctx, project, c.StateDir, c.Environ, c.Now, change.Baseline{Session: session.Origin}).Tree
	if !untouched() { // something was written while the tree was read
		return ""
	}
	c.protect(ctx, []*keeper.Project{project}, session)
	return tree
}

// topOf is the top of the repository of the project at root; outside of one it is the root.
func topOf(root string) string {
	if top, found := paths.GitRoot(root); found {
		return top
	}
	return root
}

// lookPatience is how long a stop may look whether a tree is as the agent found it, before the gates run.
const lookPatience = 10 * time.Second

// stranger is the project that was never approved in which a call shows the session, by
// where it stands or by a file that a tool has written; empty where there is none. A copy or
// a clone of an approved project is one.
func (c *call) stranger(payload hook.Payload) string {
	if !c.enforces() {
		return ""
	}
	var dirs []string
	switch p := payload.(type) {
	case *hook.StopPayload:
		dirs = []string{p.CWD}
	case *hook.PostToolUsePayload:
		dirs = footprint.Edited(p.ToolUse, p.CWD)
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		if root, _ := paths.ProjectRoot(paths.HasConfig, dir); root != "" && c.nearest(root) != root {
			return paths.Canonical(root)
		}
	}
	return ""
}

// strange says of projects in which the agent has worked that they were never approved: the
// gates of another one answer.
func (c *call) strange(place *Place, session *footprint.Session) {
	if session == nil || place.Root == "" {
		return
	}
	for _, root := range session.Strange {
		var other Place
		if root != paths.Canonical(place.Root) && c.nearest(root) != root {
			other = c.locator().unapproved(root)
		}
		place.Verdicts = append(place.Verdicts, other.Verdicts...)
	}
}

// followMoved finds the red trees that are elsewhere now.
func (c *call) followMoved(payload hook.Payload, root string, session *footprint.Session) *footprint.Session {
	if session == nil {
		return nil
	}
	moved := map[string]string{}
	for from, tree := range session.Trees {
		if !tree.Red {
			continue
		}
		if now := tree.Now(from, session.Roots); now != "" && paths.Canonical(now) != from {
			moved[from] = paths.Canonical(now)
		}
	}
	if len(moved) == 0 {
		return session
	}
	return c.update(payload, root, session, func(s *footprint.Session) {
		for from, to := range moved {
			s.FollowMoved(from, to)
		}
	})
}

// vanished holds an agent back once whose red tree is gone: leaving a tree closes nothing. From
// then on a person is told.
func (c *call) vanished(place *Place, payload hook.Payload, session *footprint.Session) {
	if session == nil {
		return
	}

	var removed []string
	for _, root := range slices.Sorted(maps.Keys(session.Trees)) {
		tree := session.Trees[root]
		if tree.Red && tree.Removed(root) {
			removed = append(removed, root)
		}
		if !session.Missing(root) {
			continue
		}

		what := fmt.Sprintf("%s, where gates failed in this session, no longer exists", plain.Line(root))
		if disk.Exists(root) {
			what = fmt.Sprintf("%s, where gates failed in this session, is no longer the same project", plain.Line(root))
		}
		verdict := keeper.Verdict{
			Keeper: "work", Outcome: keeper.Failed, Status: "vanished", Summary: what, Uncounted: true,
			Reason: keeper.Words("%s. Restore it and stop again, or ask a person to approve its new location (`stopgate trust`).", what),
		}
		switch {
		case tree.Observed || c.global.Observes(nil):
			place.Verdicts = append(place.Verdicts, verdict.Observed())
		case tree.Missed:
			verdict.Message, verdict.Reason, verdict.NeedsPerson = what+", and no gate has checked the work since", "", true
			place.Verdicts = append(place.Verdicts, verdict)
		default:
			c.update(payload, place.Root, session, func(s *footprint.Session) { s.SetTree(root, func(t *footprint.Tree) { t.Missed = true }) })
			place.Held = cmp.Or(place.Held, &verdict)
		}
	}

	c.tellOnce(place, payload, session, removed, removedStatus, func(roots string) string {
		return roots + " was removed (gates failed there in this session, and no gate has checked the work since)"
	})
}

// removedStatus is that of a red worktree which git removed.
const removedStatus = "removed"

// tellUnnamed says of worktrees that they are new, and that no gate has looked at them because
// nothing shows that they are this session's.
func (c *call) tellUnnamed(place *Place, payload hook.Payload, session *footprint.Session, unnamed []string) {
	c.tellOnce(place, payload, session, unnamed, "unnamed", func(roots string) string {
		return "not checked: " + roots + " (created during this session, but never used in it)"
	})
}

// tellOnce says something of trees that a person was not told of yet.
func (c *call) tellOnce(place *Place, payload hook.Payload, session *footprint.Session, roots []string, status string, message func(roots string) string) {
	if session == nil {
		return
	}
	roots = slices.DeleteFunc(roots, func(root string) bool { return slices.Contains(session.Told, toldKey(status, root)) })
	if len(roots) == 0 {
		return
	}
	c.update(payload, place.Root, session, func(s *footprint.Session) {
		for _, root := range roots {
			s.Told = append(s.Told, toldKey(status, root))
		}
	})
	place.Verdicts = append(place.Verdicts, keeper.Verdict{
		Keeper: "work", Outcome: keeper.Passed, Status: status, Message: message(plain.Line(strings.Join(roots, ", "))),
	})
}

// toldKey is what is remembered of a message about a tree.
func toldKey(status, root string) string { return status + ":" + root }

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

// around is the nearest project upward from a directory. Where trust is enforced it may be one around the repository that the
// directory is in, as far as git does not ignore that there: then the files in it are part of the project's tree.
func (c *call) around(ctx context.Context, start string) string {
	if root := c.nearest(start); root != "" || !c.enforces() {
		return root
	}
	inner, found := paths.GitRoot(start)
	if !found || !filepath.IsAbs(start) || inner == filepath.Dir(inner) {
		return ""
	}
	root := c.around(ctx, filepath.Dir(inner))
	if root == "" {
		return ""
	}

	within, err := filepath.Rel(root, inner)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	if ignored, err := git.At(root, c.Environ).Ignores(ctx, filepath.ToSlash(within)); err == nil && ignored {
		return ""
	}
	return root
}
