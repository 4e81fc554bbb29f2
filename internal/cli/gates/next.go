package gates

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// nextSteps say what to do about a gate that did not pass, one step each.
func nextSteps(g *gauntlet.GateResult, short func(path string) string) []string {
	var steps []string
	if g.FixInstructions != "" {
		steps = append(steps, term.PrintableLines(strings.TrimSpace(g.FixInstructions)))
	}
	if g.Log != "" && len(g.Reviews) == 0 {
		steps = append(steps, "full output: "+plain.Line(short(g.Log)))
	}
	switch {
	case g.Outcome == gauntlet.GateCouldNotRun && g.Kind == gauntlet.KindReview:
		steps = append(steps, "see which reviewers are available: stopgate health")
	case g.Outcome == gauntlet.GateCouldNotRun:
		steps = append(steps, "install what it needs, then run: "+again(g))
	case len(g.Violations) > 0:
		steps = append(steps, reviewSteps(g, short)...)
	default:
		steps = append(steps, "after the fix, run: "+again(g))
	}
	return steps
}

func reviewSteps(g *gauntlet.GateResult, short func(path string) string) []string {
	var steps []string
	for _, file := range g.Reviews {
		steps = append(steps, "full review: "+plain.Line(short(file)))
	}
	steps = append(steps, "fix them, then have the reviewer verify: "+again(g))
	if v := skippable(g.Violations); v != nil {
		who := "to skip one"
		if v.Priority.AtLeast(config.Critical) {
			who = "a person can skip one"
		}
		steps = append(steps, fmt.Sprintf("%s: stopgate violations skip %s --why REASON", who, v.ID))
	}
	return steps
}

// skippable is a violation without an answer: one that is not critical, if
// there is any.
func skippable(violations []review.Violation) *review.Violation {
	var critical *review.Violation
	for i := range violations {
		switch v := &violations[i]; {
		case v.Status != review.New:
		case !v.Priority.AtLeast(config.Critical):
			return v
		case critical == nil:
			critical = v
		}
	}
	return critical
}

// again runs one gate alone.
func again(g *gauntlet.GateResult) string {
	return fmt.Sprintf("stopgate %s --gate %s", g.Kind, g.Name)
}

// afterRun says what to do about how the whole run ended.
func afterRun(r *gauntlet.Result) string {
	switch r.Status {
	case gauntlet.LockExists:
		return "wait for that run to finish, then try again"
	case gauntlet.InfrastructureError:
		if len(r.Gates) == 0 {
			return "see what is missing: stopgate health"
		}
	}
	return ""
}
