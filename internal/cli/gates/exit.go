package gates

import (
	"github.com/stopgate/stopgate/internal/cli/term"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
)

// exitFor is the exit code of a run that ended so.
func exitFor(r *gauntlet.Result) int {
	switch {
	case r.Interrupted:
		return term.ExitInterrupted
	case r.Status == gauntlet.Failed:
		return term.ExitFailed
	case r.Status == gauntlet.Passed, r.Status == gauntlet.PassedWithWarnings, r.Status == gauntlet.NoApplicableGates:
		return term.ExitOK
	}
	return term.ExitCouldNotRun
}
