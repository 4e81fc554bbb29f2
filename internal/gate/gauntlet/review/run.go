package review

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// Request is a change and who is to review it how.
type Request struct {
	Gate   string // the job's id, such as review:src:code-quality
	Review *config.Review
	Diff   []byte
	// NotShown is what changed and is not in the diff, or not whole, a line each.
	NotShown []string
	// Previous are the violations on record, with what the agent says about them.
	Previous []Violation
	Root     string
	Environ  []string
	StateDir string
	Now      func() time.Time
	// Log is asked for a place to write what a reviewer prints, each time that one
	// is started, and may give nil. It is called from several goroutines. What it
	// gives is closed when the reviewer has ended.
	Log func(slot int, adapter string) io.WriteCloser
}

// SlotResult is one of the reviews that were asked for.
type SlotResult struct {
	Slot    int    // from 1
	Adapter string // the last that was asked; empty if none could be
	Answer  Answer
	Raw     string // what that one printed, the end of it
	// Tried are the adapters that could not review, and why.
	Tried []Attempt
	// Err says that nobody could review: nothing is known about the change.
	Err error
	// CutOff means that the time for the whole run ended a reviewer, and none answered.
	CutOff bool
	Cost   event.Cost // of all that were asked, as far as they tell
}

// Attempt is a reviewer that gave no answer.
type Attempt struct {
	Adapter string
	Why     string
}

// Run has the change reviewed as often as the review asks for. Slot i begins
// with the i-th reviewer that can be asked, in the order of preference and round
// again, and goes on to the next when one fails. The results are in the order of
// the slots.
func Run(ctx context.Context, r Request) []SlotResult {
	p := convene(r)
	results := make([]SlotResult, max(1, r.Review.NumReviews))
	var slots sync.WaitGroup
	for i := range results {
		if r.Review.Parallel {
			slots.Go(func() { results[i] = p.slot(ctx, i+1) })
		} else {
			results[i] = p.slot(ctx, i+1)
		}
	}
	slots.Wait()
	return results
}

// panel is the reviewers of one request.
type panel struct {
	Request
	prompted []byte
	own      []string // the person's environment
	env      []string // the reviewers'
	quotas   quotas
	seats    []seat    // who can be asked, in the order of preference
	absent   []Attempt // who cannot
}

type seat struct {
	adapter
	path  string
	model string
}

func convene(r Request) *panel {
	p := newPanel(r, r.prompt())
	for i, name := range r.Review.CLIPreference {
		s, err := p.seat(name)
		if err != nil {
			p.absent = append(p.absent, Attempt{name, err.Error()})
			continue
		}
		if i == 0 {
			// Each program has models of its own; the one that the review names is
			// taken for one of the program that it prefers.
			s.model = r.Review.Model
		}
		p.seats = append(p.seats, s)
	}
	return p
}

// newPanel is a panel without reviewers. The project's settings decide neither who reviews
// nor which endpoint they talk to.
func newPanel(r Request, prompted []byte) *panel {
	own := claude.Personal(r.Environ, r.Root)
	return &panel{Request: r, prompted: prompted, own: own, env: claude.Environ(own), quotas: quotas{r.StateDir}}
}

func (p *panel) place() place { return place{root: p.Root, config: claude.ConfigDir(p.own)} }

func (p *panel) seat(name string) (seat, error) {
	a, ok := adapterNamed(name)
	if !ok {
		return seat{}, fmt.Errorf("no such reviewer; known reviewers: %s", strings.Join(Names(), ", "))
	}
	path, ok := environ.LookPath(p.own, a.program)
	if !ok {
		return seat{}, fmt.Errorf("%s is not installed", a.program)
	}
	return seat{adapter: a, path: path}, p.cooling(name)
}

// cooling is an error while the reviewer's quota is used up.
func (p *panel) cooling(name string) error {
	now := p.Now()
	if until := p.quotas.until(name, now); !until.IsZero() {
		return fmt.Errorf("out of quota; asked again in %s", until.Sub(now).Round(time.Minute))
	}
	return nil
}

// slot asks one reviewer after the other until one answers.
func (p *panel) slot(ctx context.Context, n int) (result SlotResult) {
	result = SlotResult{Slot: n, Tried: slices.Clone(p.absent)}
	defer func() {
		if r := recover(); r != nil { // in a goroutine it would end the process
			result.Err = fmt.Errorf("internal error in the review: %v", r)
		}
	}()

	for i := range p.seats {
		s := p.seats[(n-1+i)%len(p.seats)]
		err := p.cooling(s.name) // another slot may have found out meanwhile
		if err == nil {
			result.Adapter = s.name
			var spent event.Cost
			result.Answer, result.Raw, spent, err = p.ask(ctx, n, s)
			result.Cost = result.Cost.Plus(spent)
		}
		if err == nil {
			result.CutOff = false
			return result
		}
		result.Tried = append(result.Tried, Attempt{s.name, err.Error()})
		result.CutOff = result.CutOff || errors.Is(err, errNoTime)
		if ctx.Err() != nil {
			break
		}
	}

	result.Err = nobody(ctx, result.Tried)
	return result
}

// nobody is the error of a slot that has run out of reviewers, or of time.
func nobody(ctx context.Context, tried []Attempt) error {
	reasons := make([]string, len(tried))
	for i, a := range tried {
		reasons[i] = a.Adapter + ": " + a.Why
	}
	text := "no reviewer could answer: " + strings.Join(reasons, "; ")
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%s: %w", text, cause)
	}
	return errors.New(text)
}
