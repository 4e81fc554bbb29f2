package gauntlet

import (
	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// inCI reports whether we run in a CI job.
func inCI(variables []string) bool {
	return environ.Get(variables, "CI") == "true" || environ.Get(variables, "GITHUB_ACTIONS") == "true"
}

// ScopeOf is what counts as changed where nobody says otherwise: in CI the pull
// request, elsewhere the work since the base branch.
func ScopeOf(variables []string) change.Scope {
	if !inCI(variables) {
		return change.Scope{}
	}
	base := environ.Get(variables, "GITHUB_BASE_REF")
	head := environ.Get(variables, "GITHUB_SHA")
	return change.Scope{Base: base, CI: true, Head: head}
}
