package stop

import (
	"context"
	"maps"
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

// others are the projects besides root that a stop is judged in: those in which the session has worked, unless another
// session works there now and this one no longer does, worktrees that it made, projects below the directory of a client that
// was started above them, others to which its commands lead, and those where it was refused and has not passed since. Where
// trust is enforced only approved ones count. unnamed are new worktrees of which nothing shows whose they are.
func (c *call) others(ctx context.Context, root string, payload hook.Payload, session *footprint.Session) (roots, unnamed []string) {
	seen := map[string]bool{paths.Canonical(root): true}
	add := func(root string) {
		if session.Missing(root) {
			return // its approval is still there
		}
		if root != "" && !seen[paths.Canonical(root)] {
			seen[paths.Canonical(root)] = true
			roots = append(roots, root)
		}
	}

	places := c.enclosing(ctx, payload)
	if session != nil {
		for _, root := range session.Roots {
			places = append(places, c.nearest(root))
		}
		places = c.notOthers(ctx, root, payload, session, places)
	}
	for _, root := range places {
		add(root)
	}
	if session == nil {
		return roots, nil
	}

	mentioned, unnamed := c.mentioned(ctx, root, payload, session)
	for _, root := range mentioned {
		add(c.nearest(root))
	}

	c.led = c.beside(payload, session, slices.Concat([]string{root}, session.Roots, roots))
	for _, root := range c.led {
		add(c.nearest(root))
	}

	for _, tree := range slices.Sorted(maps.Keys(session.Trees)) {
		if known := session.Trees[tree]; known.Red && !known.Removed(tree) {
			add(tree)
		}
	}
	return roots, unnamed
}

// enclosing are the projects in or around whose repositories Claude Code was started and stands: where it is in none itself, it
// may be in a submodule or a clone within one.
func (c *call) enclosing(ctx context.Context, payload hook.Payload) (roots []string) {
	for _, start := range c.starts(payload) {
		if root := c.around(ctx, start); root != "" {
			roots = append(roots, root)
		}
	}
	return roots
}

// below are the approved projects, in whichever worktree that was, in the directories in which Claude Code was started and
// stands, without those themselves. A transcript has them by the name of their repository, or
// by their place in the directory where that is in the repository itself.
func (c *call) below(payload hook.Payload) (all []footprint.Candidate) {
	if !c.enforces() {
		return nil
	}
	var above []string
	for _, start := range []string{payload.Common().CWD, c.getenv("CLAUDE_PROJECT_DIR")} {
		if filepath.IsAbs(start) {
			above = append(above, paths.Canonical(start)+string(filepath.Separator))
		}
	}

	roots := trust.NewStore(c.StateDir).Roots()
	for _, one := range footprint.Worktrees(roots, time.Time{}) {
		if slices.ContainsFunc(above, func(dir string) bool { return isWithin(dir, one.Top) }) {
			roots = append(roots, one.Root) // the agent stands in the same worktree
		}
	}
	for _, root := range roots {
		i := slices.IndexFunc(above, func(dir string) bool { return strings.HasPrefix(root, dir) })
		if i < 0 {
			continue
		}
		name := filepath.ToSlash(strings.TrimPrefix(root, above[i]))
		if top, found := paths.GitRoot(root); found && strings.HasPrefix(top, above[i]) {
			name = filepath.Base(top)
		}
		all = append(all, footprint.Candidate{Root: root, Name: name})
	}
	return all
}

// maxBelow bounds how many trees a prompt looks at for a client that was started above many. Of
// the others it is not known what the agent found, so a stop judges those that have changed since that prompt.
const maxBelow = 16

// mentioned are the projects that no hook named but the transcript does, in a tool call or in the answer to a call that does
// more than read: projects below Claude Code's directory by their name, and worktrees newer than the session by their path.
// Other sessions and people make worktrees at the same time, so a worktree in which another session works, or that a tool only
// listed or a person only mentioned, does not count. unnamed are the other new worktrees.
func (c *call) mentioned(ctx context.Context, root string, payload hook.Payload, session *footprint.Session) (roots, unnamed []string) {
	below := c.below(payload)
	known := session.Roots
	if root != "" {
		known = append([]string{root}, known...)
	}

	worktrees := footprint.Worktrees(append(rootsOf(below), known...), session.Began)
	candidates := slices.Concat(c.unclaimed(below, session, session.Prompted), c.unclaimed(worktrees, session, time.Time{}))
	candidates = slices.DeleteFunc(candidates, func(one footprint.Candidate) bool { return slices.Contains(known, one.Root) })
	if len(candidates) == 0 {
		return nil, nil
	}

	ctx, cancel := context.WithTimeout(ctx, c.left(c.timeout(payload, nil)))
	defer cancel()
	text, err := transcript.Calls(ctx, payload.Common().TranscriptPath, maxTranscript)
	if err != nil {
		return rootsOf(candidates), nil
	}

	stands := append(c.starts(payload), known...)
	mentions := map[footprint.Candidate]bool{}
	for i, one := range candidates {
		if ctx.Err() != nil {
			return append(roots, rootsOf(candidates[i:])...), unnamed
		}
		said := footprint.Candidate{Name: one.Name, Top: one.Top}
		if _, looked := mentions[said]; !looked {
			mentions[said] = one.IsIn(text, stands)
		}
		switch {
		case mentions[said]:
			roots = append(roots, one.Root)
		case one.Top != "":
			unnamed = append(unnamed, one.Root)
		}
	}
	return roots, unnamed
}

// notOthers drops the projects in which another session works and this one cannot have changed anything since its turn began:
// it only started there, or came from there. It keeps the project at root.
func (c *call) notOthers(ctx context.Context, root string, payload hook.Payload, session *footprint.Session, places []string) []string {
	known := append([]string{paths.Canonical(root)}, session.Worked...)
	isKnown := func(place string) bool { return place == "" || slices.Contains(known, paths.Canonical(place)) }
	if !slices.ContainsFunc(places, func(place string) bool { return !isKnown(place) }) {
		return places
	}

	taken := footprint.NewStore(c.StateDir).Claimed(session.Origin, session.Prompted)
	return slices.DeleteFunc(places, func(place string) bool {
		return !isKnown(place) && slices.Contains(taken, paths.Canonical(place)) && c.actsOnlyElsewhere(ctx, payload, session, paths.Canonical(place))
	})
}

// unclaimed are those candidates in which no other session works or has worked since a moment.
func (c *call) unclaimed(candidates []footprint.Candidate, session *footprint.Session, since time.Time) []footprint.Candidate {
	if len(candidates) == 0 {
		return nil
	}
	taken := footprint.NewStore(c.StateDir).Claimed(session.Origin, since)
	return slices.DeleteFunc(candidates, func(one footprint.Candidate) bool { return slices.Contains(taken, paths.Canonical(one.Root)) })
}

func rootsOf(candidates []footprint.Candidate) (roots []string) {
	for _, one := range candidates {
		roots = append(roots, one.Root)
	}
	return roots
}

// maxTranscript bounds how much of a transcript is looked through, from its end.
const maxTranscript = 256 << 20
