package gauntlet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Claim is a job that has passed for what Covers names.
type Claim struct{ Job, Covers string }

// Claims are what can be said of a commit on another machine: which of its gates have passed.
type Claims struct {
	Commit string
	Prefix string // of the project below the work tree's root: "" or "a/b/"
	Passed []Claim
	// Left are the jobs whose pass no other machine could verify, and why.
	Left []string
}

// Committed is the commit that the working tree holds, no more and no less. Any other tree is an
// error: what gates have seen of it is not what others get.
func Committed(ctx context.Context, o Options) (commit string, err error) {
	p, err := newExecution(o).committed(ctx)
	return p.Head, err
}

// ErrUncommitted is why a tree is not its commit.
var ErrUncommitted = errors.New("not committed")

func (e *execution) committed(ctx context.Context) (change.Position, error) {
	position, err := e.tree.Position(ctx, change.Scope{Uncommitted: true})
	switch {
	case err != nil:
		return position, err
	case !position.Git:
		return position, errors.New(position.Note)
	case position.Head == "":
		return position, errors.New("there is no commit yet")
	}

	names, err := e.tree.Uncommitted(ctx, position)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%w: %s", ErrUncommitted, plain.Line(strings.Join(plain.Few(names, 5), ", ")))
	}
	return position, err
}

// ClaimsOf says what is proven of the commit that is checked out. It looks at the ledger and runs no
// gate. The tree must be the same before and after it was compared with the commit.
func ClaimsOf(ctx context.Context, o Options) (Claims, error) {
	e := newExecution(o)
	v := &view{}
	var err error
	if v.state, err = e.ledger.Read(); err != nil {
		return Claims{}, err
	}
	if err := e.look(ctx, v); err != nil {
		return Claims{}, err
	}
	s, err := e.selected(ctx, v)
	if err != nil {
		return Claims{}, err
	}
	jobs, _ := e.due(v, s)
	claims := e.claims(ctx, v, jobs)

	position, err := e.committed(ctx)
	if err != nil {
		return Claims{}, err
	}
	after, err := e.tree.Tree(ctx)
	if err == nil && (!after.Exact || after.ID != v.tree.Known()) {
		err = errors.New("the working tree changed meanwhile, or cannot be read exactly")
	}
	claims.Commit, claims.Prefix = position.Head, position.Prefix
	return claims, err
}

// claims lists the jobs that are proven, each with those that it runs for.
func (e *execution) claims(ctx context.Context, v *view, jobs []*Job) (c Claims) {
	prover := e.prover(v, v.tree)
	for _, job := range jobs {
		_, proven := e.proof(&v.state, job, prover.key(ctx, job))
		for _, one := range append([]*Job{job}, job.also...) {
			covers := prover.covers(ctx, one)
			switch {
			case proven && covers != "":
				c.Passed = append(c.Passed, Claim{one.ID(), covers})
			case prover.readsGit(one):
				c.Left = append(c.Left, one.ID()+" (reads git)")
			case !one.Gate().Cache:
				c.Left = append(c.Left, one.ID()+" (cache: false)")
			default:
				c.Left = append(c.Left, one.ID()+" (its pass cannot be reused)")
			}
		}
	}
	return c
}
