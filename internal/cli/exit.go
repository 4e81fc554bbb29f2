package cli

import "github.com/stopgate/stopgate/internal/gate/gauntlet"

// exitFor is the exit code of a run that ended so.
func exitFor(r *gauntlet.Result) int {
	switch {
	case r.Interrupted:
		return exitInterrupted
	case r.Status == gauntlet.Failed:
		return exitFailed
	case r.Status == gauntlet.Passed, r.Status == gauntlet.PassedWithWarnings, r.Status == gauntlet.NoApplicableGates:
		return exitOK
	}
	return exitCouldNotRun
}
