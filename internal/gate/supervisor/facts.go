package supervisor

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/git"
)

// Facts are what a reviewer is told beside its instructions: what it could find
// out only with effort, or not at all.
type Facts struct {
	Session          string
	Now              time.Time
	Iteration, Limit int
	LastMessage      string // the agent's; it may not be in the transcript yet
	Asked            []string
	AskedNote        string // why nothing is known of what was asked, if so
	Git              GitFacts
	Gates            GateFacts
	Background       []string // work that goes on although the agent stops
	Previous         string   // what the last review asked for, if it refused
}

// GitFacts are how the repository stands.
type GitFacts struct {
	Note               string // why nothing is known, if so
	Branch, Head       string // HEAD when detached; empty before the first commit
	Upstream           Upstream
	Changed, Untracked int
	Names              []string // of some that are changed or untracked
}

// Upstream is how HEAD stands to the branch that it is pushed to.
type Upstream int

// The ways.
const (
	NoUpstream Upstream = iota
	Pushed
	Unpushed // there are commits that upstream does not have
)

// GateFacts are what the project's ledger says.
type GateFacts struct {
	Note     string // why nothing is known, if so
	Open     []GateFailure
	Failures int      // failing runs in a row
	Selected []string // the jobs that the last run found to apply
	// Passes counts those of the last day that are on record, the newest of them at
	// Passed. The ledger knows a pass by a digest, and not which gate it is of.
	Passes  int
	Passed  time.Time
	Skipped int // findings of reviews that were left as they are
}

// GateFailure is a gate that failed and has not passed since.
type GateFailure struct {
	Job, Message string
	Since        time.Time
}

// Sources are where facts come from.
type Sources struct {
	Payload          *hook.StopPayload
	Dir              string // where git is asked
	Root             string // of the project; empty: it has no gates
	StateDir         string
	Environ          []string
	Now              time.Time
	Iteration, Limit int
	Previous         string // the feedback of the last review, if it refused
}

const (
	maxRequests = 6
	maxNames    = 40
	maxFailures = 10
	// gitPatience is for a large tree that nothing has read lately. A review goes on
	// without.
	gitPatience = 3 * time.Second
)

// Gather collects the facts. It never fails: what cannot be had says so in its
// place.
func Gather(ctx context.Context, s Sources) Facts {
	f := Facts{
		Session: s.Payload.SessionID, Now: s.Now, Iteration: s.Iteration, Limit: s.Limit,
		LastMessage: s.Payload.LastAssistantMessage, Previous: s.Previous,
		Background: s.Payload.Background(),
		Gates:      gateFacts(s.StateDir, s.Root, s.Now),
	}
	var group sync.WaitGroup
	group.Go(func() { f.Git = gitFacts(ctx, s.Dir, s.Environ) }) // while we read
	asked, err := Asked(s.Payload.TranscriptPath, maxRequests)
	if err != nil {
		f.AskedNote = err.Error()
	}
	f.Asked = asked
	group.Wait()
	return f
}

func gitFacts(ctx context.Context, dir string, environ []string) GitFacts {
	ctx, cancel := context.WithTimeoutCause(ctx, gitPatience, errors.New("git timed out"))
	defer cancel()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // git says "../" from there
	}
	f, err := askGit(ctx, dir, environ)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return GitFacts{Note: "the work is not in a git repository"}
	case err != nil:
		return GitFacts{Note: "git could not report the status: " + err.Error()}
	}
	return f
}

func askGit(ctx context.Context, dir string, environ []string) (f GitFacts, err error) {
	repo := git.At(dir, environ)
	at, err := repo.Locate(ctx, "@{upstream}", "HEAD")
	if err != nil {
		return GitFacts{}, err
	}
	if !at.Inside {
		return GitFacts{}, errors.New("not a working tree")
	}

	switch {
	case at.Complete && at.Tip == at.Merge:
		f.Upstream = Pushed
	case at.Complete:
		f.Upstream = Unpushed
	case at.Head != "": // it did not get as far as the branch
		if at, err = repo.Locate(ctx, "", "HEAD"); err != nil {
			return GitFacts{}, err
		}
	}

	f.Head, f.Branch = at.Head, strings.TrimPrefix(at.Branch, "refs/heads/")
	if f.Head == "" {
		if f.Branch, err = repo.UnbornBranch(ctx); err != nil {
			return GitFacts{}, err
		}
	}

	status, err := git.At(filepath.Join(dir, filepath.FromSlash(at.Up)), environ).Status(ctx)
	if err != nil {
		return GitFacts{}, err
	}
	f.Changed, f.Untracked = len(status.Changed), len(status.Untracked)
	f.Names = status.Changed[:min(len(status.Changed), maxNames)]
	f.Names = append(f.Names, status.Untracked[:min(len(status.Untracked), maxNames-len(f.Names))]...)
	return f, nil
}

func gateFacts(stateDir, root string, now time.Time) GateFacts {
	if root == "" {
		return GateFacts{Note: "the project has no gates"}
	}

	state, err := ledger.Open(stateDir, root).Read()
	switch {
	case err != nil:
		return GateFacts{Note: err.Error()}
	case state.Damaged:
		return GateFacts{Note: "the record of the gates was damaged, so earlier runs are unknown"}
	case len(state.Open) == 0 && len(state.Proven) == 0 && state.Look == nil:
		return GateFacts{Note: "the gates of this project have never run"}
	}

	f := GateFacts{Failures: state.Series.Failures, Skipped: len(state.Skipped)}
	for _, failure := range state.Open {
		f.Open = append(f.Open, GateFailure{failure.Job, failure.Message, failure.Since})
	}
	if state.Look != nil {
		f.Selected = state.Look.Jobs
	}
	for key := range state.Proven {
		if proof, counts := state.Proof(key, now); counts {
			f.Passes++
			if proof.At.After(f.Passed) {
				f.Passed = proof.At
			}
		}
	}
	return f
}
