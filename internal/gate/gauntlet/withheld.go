package gauntlet

import (
	"slices"

	"github.com/stopgate/stopgate/internal/gate/keeper"
)

// withheldBefore is the result when .gauntlet is not as approved and the approved files cannot
// be put in its place: no gate runs. It holds the agent back, which can restore the files,
// and says nothing about the work, so it is not recorded and does not count as a retry.
func withheldBefore(project *keeper.Project) (Result, bool) {
	err := project.Content.Ready()
	if err == nil {
		return Result{}, false
	}
	return Held(err.Error()), true
}

// Held is the result when an agent is held back because what was approved cannot be run.
func Held(why string) Result {
	r := Result{Status: Failed, Gates: []GateResult{{Job: "trust", Kind: KindCheck, Name: "trust", Outcome: GateFailed, Message: why, withheld: true}}}
	r.Message, r.spared = messageFor(&r), notJudged("the approved files cannot be run")
	return r
}

// withheld reports whether what was approved could not be given to a gate, or not all the
// time. Then the run is not recorded: what the other gates said they say again.
func (r *Result) withheld() bool {
	return slices.ContainsFunc(r.Gates, func(g GateResult) bool { return g.withheld })
}
