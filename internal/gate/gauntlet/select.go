package gauntlet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/ledger"
	"github.com/stopgate/stopgate/internal/sys/digest"
)

// selection is what the changes lead to.
type selection struct {
	jobs    []*Job
	changed int
	note    string
	aside   []string // what the session has put where no gate looks
}

// selected finds the jobs that the changes lead to. Where the last look saw
// exactly the same, its result stands and git is not asked again.
func (e *execution) selected(ctx context.Context, v *view) (*selection, error) {
	if v.chosen != nil {
		return v.chosen, nil
	}
	if v.unseen != nil {
		v.chosen = e.everything(v.unseen)
		return v.chosen, nil
	}

	key := e.lookKey(v)
	if last := v.state.Look; key != "" && last != nil && last.Key == key {
		if v.chosen = e.remembered(last); v.chosen != nil {
			return v.chosen, nil
		}
	}

	limited, cancel := context.WithTimeout(ctx, e.looking)
	defer cancel()
	set, err := e.tree.Changes(limited, e.Scope, v.position)
	if err != nil && (ctx.Err() != nil || IsBadRevision(err) && !e.Answers) {
		return nil, err
	}
	if err != nil {
		v.unseen = err
		v.chosen = e.everything(err)
		return v.chosen, nil
	}

	v.chosen = &selection{jobs: e.plan.jobs(set.Files), changed: len(set.Files), note: set.Note}
	v.chosen.aside = e.aside(limited, v)
	if key != "" {
		v.look = newLook(key, v.chosen)
	}
	return v.chosen, nil
}

// everything is the selection where the changes cannot be seen: then anything may have
// changed.
func (e *execution) everything(err error) *selection {
	return &selection{jobs: e.plan.all(), note: fmt.Sprintf("cannot determine the changes, so everything counts as changed: %v", err)}
}

// remembered is the selection of the last look; nil where it can no longer be
// understood.
func (e *execution) remembered(last *ledger.Look) *selection {
	s := &selection{changed: last.Changed, note: last.Note, aside: last.Aside}
	for _, id := range last.Jobs {
		job := e.plan.find(id)
		if job == nil {
			return nil
		}
		s.jobs = append(s.jobs, job)
	}
	s.jobs = inOrder(s.jobs) // so that each knows again for which others it runs
	return s
}

func newLook(key string, s *selection) *ledger.Look {
	look := &ledger.Look{Key: key, Changed: s.changed, Note: s.note, Aside: s.aside}
	for _, job := range s.jobs {
		look.Jobs = append(look.Jobs, job.ID())
		look.Jobs = append(look.Jobs, ids(job.also)...)
	}
	return look
}

// remember saves the next look at the same tree two calls of git. It is worth no
// error.
func (e *execution) remember(ctx context.Context, v *view) {
	look := v.toRemember()
	if look == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_ = e.ledger.Update(ctx, func(state *ledger.State) error {
		state.Look = look
		return nil
	})
}

// toRemember is the look that the ledger is to have; nil where it has it.
func (v *view) toRemember() *ledger.Look {
	look := v.look
	if look == nil && v.state.Look != nil && v.state.Look.Outside != v.outside {
		known := *v.state.Look
		look = &known
	}
	if look != nil {
		look.Outside = v.outside
	}
	return look
}

// lookKey names everything that the selection follows from; empty where that
// cannot be told.
func (e *execution) lookKey(v *view) string {
	if !v.tree.Exact {
		return ""
	}
	text, err := json.Marshal(struct {
		Version           int
		Tree, Head, Merge string
		Index             string
		Scope, Gates      any
		LogDir            string
		CI                bool
		Since             change.Start
		Aside             string
	}{4, v.tree.ID, v.position.Head, v.position.MergeBase, indexStamp(v.position.GitDir), e.Scope, e.Project.Gates, e.Project.Config.Gauntlet.LogDir, e.plan.ci, e.Since, e.tree.AsideStamp(v.position, v.tree)})
	if err != nil {
		return ""
	}
	return digest.Hex(text)
}

// indexStamp changes whenever something is staged.
func indexStamp(gitDir string) string {
	info, err := os.Stat(filepath.Join(gitDir, "index"))
	if gitDir == "" || err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// withOpen adds the jobs that have an open failure, in the order of the
// configuration, and lists the failures whose gate is gone. One that does not run
// here, and has never been said to, stays as it is, but for a stop: it failed on this
// machine, and CI=true must not free the agent.
func (e *execution) withOpen(jobs []*Job, state *ledger.State) (all []*Job, gone []string) {
	all = slices.Clone(jobs)
	for _, failure := range state.Open {
		switch job := e.plan.find(failure.Job); {
		case job == nil, !e.plan.here(job.Gate()) && job.definition() != failure.Definition:
			gone = append(gone, failure.Job)
		case e.plan.here(job.Gate()), e.Answers:
			all = append(all, job)
		}
	}
	return inOrder(all), gone
}

// meant keeps the jobs that the options select.
func (e *execution) meant(jobs []*Job) []*Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(job *Job) bool { return !e.selects(job) })
}
