package stop

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// prompted remembers the trees that the agent finds when it begins to work on a prompt.
// They are its baseline at the session's first prompt, and at a person's next one if only
// the person can have changed anything since the last stop (see rests). typed means that we
// typed the prompt.
func (c *call) prompted(ctx context.Context, payload hook.Payload, place Place, session *footprint.Session, typed bool) {
	p, is := payload.(*hook.UserPromptSubmitPayload)
	if !is || p.AgentID != "" {
		return
	}
	below := rootsOf(c.below(payload))
	below = below[:min(len(below), maxBelow)]
	if session == nil && !c.anywhere() {
		return
	}
	begins := session == nil || session.Prompts == 0
	person := !typed && !p.Automatic() && agentdir.FromEnviron(c.Environ) == "" && (begins || !p.IsOneOf(session.Scheduled))
	ctx, cancel := c.limit(ctx, c.timeout(payload, place.Project))
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, promptPatience)
	defer cancel()

	var found map[string]finding
	var projects []*keeper.Project
	moves := !begins && person && rests(session)
	if begins || moves {
		if place.Root == "" {
			below = append(below, c.enclosing(ctx, payload)...)
		}
		found, projects = c.lookAround(ctx, place, below, p.SessionID, session)
	}

	session = c.update(payload, place.Root, session, func(s *footprint.Session) {
		for root, tree := range found {
			first := s.Prompts == 0
			s.SetTree(root, func(t *footprint.Tree) {
				switch {
				case first:
					t.Since, t.Reflog, t.Rules = event.SinceStart, tree.reflog, tree.Rules
				case t.Baseline != tree.Tree:
					t.Since = event.SincePrompt
				}
				t.Baseline = tree.Tree
			})
		}
		s.DropGone()
		if s.Whole && (s.Prompts == 0 || moves && s.Judged) {
			s.Prompted, s.Begins, s.Worked = c.start.UTC(), endOf(p.TranscriptPath), nil
		}
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

// anywhere reports whether there is a project to which a session may go that was started in none.
func (c *call) anywhere() bool { return c.enforces() && len(trust.NewStore(c.StateDir).Roots()) > 0 }

// protect remembers the protected files that the agent finds, at the first prompt as a rule. Where that
// fails, its stops are held to commits instead.
func (c *call) protect(ctx context.Context, projects []*keeper.Project, session *footprint.Session) {
	for _, project := range projects {
		place := protect.Place{
			Project: project, StateDir: c.StateDir, Environ: c.Environ, Now: c.Now, Session: session.Origin, Prompted: true,
			Since: startOf(session, project.Root),
		}
		if err := place.Begin(ctx); err != nil {
			c.logf("record the protected files of %s: %v", project.Root, err)
		}
	}
}

// promptPatience is how long a prompt may wait for all that is remembered of trees.
const promptPatience = 10 * time.Second

// finding is a tree that an agent finds, and the reflog that it has at the first prompt. Git may be asked for that, which
// is too slow while the session's file is locked.
type finding struct {
	gauntlet.Found
	reflog change.Reflog
}

// lookAround looks at the trees of a session, which is nil where it has only its id.
func (c *call) lookAround(ctx context.Context, place Place, below []string, id string, session *footprint.Session) (found map[string]finding, projects []*keeper.Project) {
	found = map[string]finding{}
	look := func(project *keeper.Project) {
		if project == nil {
			return
		}
		root := paths.Canonical(project.Root)
		if _, seen := found[root]; seen {
			return
		}

		before := change.Baseline{Session: id}
		if session != nil {
			before = change.Baseline{Session: session.Origin, Tree: session.Trees[root].Baseline}
		}
		tree := finding{Found: gauntlet.KeepTree(ctx, project, c.StateDir, c.Environ, c.Now, before)}
		if session == nil || session.Prompts == 0 {
			tree.reflog = change.FoundReflog(ctx, root, c.Environ)
		}
		found[root] = tree
		projects = append(projects, project)
	}

	look(place.Project)
	roots := below
	if session != nil {
		roots = slices.Concat(roots, session.Roots, slices.Sorted(maps.Keys(session.Trees)))
	}
	for _, root := range roots {
		look(c.locator().Locate(root, false).Project)
	}
	return found, projects
}

// settle remembers what a stop came to: where it passed, the agent has left the tree as it
// is meant to be; where it was refused, it has something to answer for.
func (c *call) settle(ctx context.Context, kc *keeper.Call, root string, session *footprint.Session, j Judgement) {
	p, is := kc.Payload.(*hook.StopPayload)
	trees := j.trees()
	if !is || session == nil || len(trees) == 0 && !c.nowhere {
		return
	}

	commits := c.committed(ctx, kc, trees, session)
	c.update(p, root, session, func(s *footprint.Session) {
		s.Judged, s.Ended = j.Blocked < 0 && len(p.BackgroundTasks) == 0, endOf(p.TranscriptPath)
		s.Schedule(p.Scheduled())
		if c.read.path != "" {
			s.Transcript, s.ReadTo = c.read.path, c.read.to
		}

		for _, root := range c.led {
			if len(p.BackgroundTasks) > 0 || !lookedOnly(root, trees) {
				s.Visit(paths.Canonical(root))
			}
		}
		for _, commit := range commits.passed {
			s.Pass(commit)
		}

		for _, tree := range trees {
			if gitDir, found := paths.GitDir(tree.Root); found && footprint.IsLinked(gitDir) {
				s.Commit(change.MadeAt(tree.Root, startOf(s, tree.Root)))
			}
			s.SetTree(paths.Canonical(tree.Root), func(t *footprint.Tree) {
				t.Partial = cmp.Or(commits.partial[tree.Root], t.Partial)
				switch gauntlet.Status(tree.Status) {
				case gauntlet.Passed, gauntlet.PassedWithWarnings:
					t.Baseline, t.Since, t.Red = tree.Tree, event.SincePass, false
				case gauntlet.NoApplicableGates, gauntlet.Unchanged:
					if tree.Since == event.SincePlan {
						s.Judged = false // what the agent found here is unknown
						return
					}
					if t.Baseline != tree.Tree {
						t.Since = event.SinceStop
					}
					t.Baseline, t.Red = tree.Tree, false
				case gauntlet.Failed:
					t.Red, t.Missed, t.Observed = true, false, c.observed(kc, tree.Root)
					t.Stand(tree.Root)
					s.Told = slices.DeleteFunc(s.Told, func(told string) bool { return told == toldKey(removedStatus, paths.Canonical(tree.Root)) })
				case gauntlet.RetryLimitExceeded:
				default:
					s.Judged = false
				}
			})
		}
	})
}

// observed reports whether nothing of a tree that was judged is blocked.
func (c *call) observed(kc *keeper.Call, root string) bool {
	i := slices.IndexFunc(kc.Trees, func(one keeper.Tree) bool { return one.Project.Root == root })
	return i >= 0 && c.global.Observes(kc.Trees[i].Project.Config)
}

// lookedOnly reports whether the agent has left a project as it was: it may have looked at it. Then it does not work there, and
// what a person does there later is not the agent's.
func lookedOnly(root string, trees []event.Tree) bool {
	return slices.ContainsFunc(trees, func(tree event.Tree) bool {
		return paths.Canonical(tree.Root) == paths.Canonical(root) && gauntlet.Status(tree.Status) == gauntlet.Unchanged && tree.Since != event.SincePlan
	})
}

// commits are the commits of the trees that a stop was judged in.
type commits struct {
	passed  []string          // those that a tree holds, no more and no less, in which gates have passed
	partial map[string]string // for each tree that holds more or less, what Partial remembers of it
}

// committed finds the commits in which gates have passed, so that a later stop does not report them as unchecked. If
// anything is uncommitted, what passed is not the commit. Only git knows, and asking costs as much as the rest of the
// stop, so the answer for a tree at a commit is remembered.
func (c *call) committed(ctx context.Context, kc *keeper.Call, trees []event.Tree, session *footprint.Session) commits {
	ctx, cancel := context.WithTimeout(ctx, min(lookPatience, c.left(c.timeout(kc.Payload, kc.Project))))
	defer cancel()
	found := commits{partial: map[string]string{}}
	for _, tree := range trees {
		known := session.Trees[paths.Canonical(tree.Root)]
		switch gauntlet.Status(tree.Status) {
		case gauntlet.Passed, gauntlet.PassedWithWarnings:
		case gauntlet.NoApplicableGates, gauntlet.Unchanged:
			if known.Since != event.SincePass || known.Baseline != tree.Tree {
				continue
			}
		default:
			continue
		}
		head := change.HeadOf(tree.Root)
		at := tree.Tree + " " + head
		i := slices.IndexFunc(kc.Trees, func(one keeper.Tree) bool { return one.Project.Root == tree.Root })
		if i < 0 || head == "" || head == known.Reflog.Head || at == known.Partial || slices.Contains(session.Passed, head) {
			continue
		}

		o := gauntlet.Options{Project: kc.Trees[i].Project, Global: c.global, StateDir: c.StateDir, Environ: c.Environ, Now: c.Now}
		commit, err := gauntlet.Committed(ctx, o)
		switch {
		case err == nil:
			found.passed = append(found.passed, commit)
		case errors.Is(err, gauntlet.ErrUncommitted) && tree.Tree != "":
			found.partial[tree.Root] = at
		}
	}
	return found
}

// startOf is when a session began to work in the project at root.
func startOf(session *footprint.Session, root string) change.Start {
	tree := session.Trees[paths.Canonical(root)]
	return change.Start{Session: session.Origin, Time: session.Began, Reflog: tree.Reflog, Elsewhere: session.Made, Rules: session.RulesIn(root), Passed: session.Passed}
}
