package gauntlet

import (
	"slices"

	"github.com/stopgate/stopgate/internal/keeper"
)

// withheldBefore is the result when .gauntlet is not as approved and the approved files cannot
// be put in its place: no gate runs. It holds the agent back, which can restore the files,
// and says nothing about the work, so it is not recorded and counts as no retry.
func withheldBefore(project *keeper.Project) (Result, bool) {
	err := project.Content.Ready()
	if err == nil {
		return Result{}, false
	}
	return Held(err.Error()), true
}

// Held is the result when an agent is held back because what was approved cannot be run.
func Held(why string) Result {
	r := Result{Gates: []GateResult{{Job: "trust", Kind: KindCheck, Name: "trust", Outcome: GateFailed, Message: why, withheld: true}}}
	withheldDuring(&r)
	return r
}

// withheldDuring makes a run the same in which that came about while gates ran. What the
// others said is said again the next time.
func withheldDuring(r *Result) bool {
	i := slices.IndexFunc(r.Gates, func(g GateResult) bool { return g.withheld })
	if i < 0 {
		return false
	}
	r.Status, r.Message = Failed, "Gauntlet was not run to its end: "+sentence(r.Gates[i].Message)
	return true
}
