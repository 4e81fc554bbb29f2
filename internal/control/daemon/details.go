package daemon

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/harness/transcript"
	"github.com/stopgate/stopgate/internal/sys/git"
	"github.com/stopgate/stopgate/internal/sys/paths"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// detailPatience is how long one looks for each detail. What takes longer is left out.
const detailPatience = 2 * time.Second

// details is what helps a person to decide, as it is now. None of it may keep the
// decision from being shown.
func (p *plane) details(ctx context.Context, o *engine.Owner, d engine.Decision) *daemonapi.Details {
	cost := o.Cost()
	details := &daemonapi.Details{USD: cost.USD, Tokens: cost.Tokens, Running: int64(ran(o, p.opts.Now()).Seconds())}
	last := lastOf(p.opts.StateDir, d.AgentID)
	words := within(ctx, func(context.Context) []string { return []string{p.saying(o, d, last)} })
	dirs := placesOf(o, d, last)
	changes := within(ctx, func(ctx context.Context) []string { return changesIn(ctx, present(dirs), p.opts.Environ) })
	gates := within(ctx, func(context.Context) []string { return openGates(p.opts.StateDir, present(dirs)) })
	p.sinceBase(ctx, o, d, details)
	details.Changes, details.Gates = <-changes, <-gates
	details.LastMessage = plain.Words(cmp.Or(strings.Join(<-words, ""), last.Message))
	return details
}

// saying is what an agent said last in the turn in which it asks something. That is in its
// transcript alone: what is on record was said when it stopped, a turn before.
func (p *plane) saying(o *engine.Owner, d engine.Decision, last agentdir.Last) string {
	if d.Ref == "" || !d.Resolved.IsZero() || o.Agent == nil || o.Agent.ID != d.AgentID {
		return ""
	}
	path, _ := transcript.Find(transcript.Projects(p.opts.configDir(*o.AgentStart())), last.Transcript, o.Agent.Session)
	words, _ := transcript.LastWords(path) // without any, what is on record has to do
	if len(words) > agentdir.MaxMessage {
		words = strings.ToValidUTF8(words[:agentdir.MaxMessage], "") + "…"
	}
	return words
}

// ran is how long an owner has been at work.
func ran(o *engine.Owner, now time.Time) time.Duration {
	if !o.AtWork() {
		return o.Ran
	}
	return o.Ran + max(now.Sub(o.Updated), 0)
}

// within gives something to look for its time. Where that hangs, as on a file system that
// is away, it goes on alone, and nothing is found.
func within[T any](ctx context.Context, find func(ctx context.Context) T) <-chan T {
	ctx, cancel := context.WithTimeout(ctx, detailPatience)
	found, answer := make(chan T, 1), make(chan T, 1)
	go func() { found <- find(ctx) }()
	go func() {
		defer cancel()
		select {
		case what := <-found:
			answer <- what
		case <-ctx.Done():
			var nothing T
			answer <- nothing
		}
	}()
	return answer
}

// lastOf is what an agent said last; nothing where that is not known.
func lastOf(stateDir, agent string) agentdir.Last {
	dir, err := agentdir.At(stateDir, agent)
	if err != nil {
		return agentdir.Last{}
	}
	last, err := dir.Last()
	if err != nil {
		return agentdir.Last{}
	}
	return last
}

// present are those directories that are there.
func present(dirs []string) (there []string) {
	for _, dir := range dirs {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			there = append(there, dir)
		}
	}
	return there
}

// changesIn are the changes that are not committed in the first working tree that is
// found.
func changesIn(ctx context.Context, dirs, environ []string) []string {
	for _, dir := range dirs {
		if root, found := paths.GitRoot(dir); found {
			return changes(ctx, git.At(root, environ))
		}
	}
	return nil
}

func changes(ctx context.Context, repo git.Repo) []string {
	head, _, err := repo.Commit(ctx, "HEAD")
	if err != nil {
		head = ""
	}
	return changesSince(ctx, repo, head)
}

// changesSince are the changes of a working tree since a commit, if there is one.
func changesSince(ctx context.Context, repo git.Repo, commit string) []string {
	var stat diffstat
	if commit != "" {
		if repo.Diff(ctx, &stat, commit, "") != nil {
			return nil
		}
		stat.flush()
	}
	status, err := repo.Status(ctx)
	if err != nil {
		return nil
	}
	for _, name := range status.Untracked {
		stat.add(plain.Line(name) + " | new")
	}
	return stat.end()
}

// openGates are the gates of the first project found that have failed and not passed
// since.
func openGates(stateDir string, dirs []string) (gates []string) {
	root, found := paths.ProjectRoot(paths.HasConfig, dirs...)
	if !found {
		return nil
	}
	state, err := ledger.Open(stateDir, root).Read()
	if err != nil {
		return nil
	}
	for _, f := range state.Open {
		gates = append(gates, strings.TrimSuffix(plain.Line(f.Job)+": "+plain.Line(f.Message), ": "))
	}
	return gates
}
