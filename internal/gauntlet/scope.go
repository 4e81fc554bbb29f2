package gauntlet

import "github.com/stopgate/stopgate/internal/gauntlet/change"

// inCI reports whether we run in a CI job.
func inCI(environ []string) bool {
	for _, name := range []string{"CI", "GITHUB_ACTIONS"} {
		if value, _ := lookup(environ, name); value == "true" {
			return true
		}
	}
	return false
}

// ScopeOf is what counts as changed where nobody says otherwise: in CI the pull
// request, elsewhere the work since the base branch.
func ScopeOf(environ []string) change.Scope {
	if !inCI(environ) {
		return change.Scope{}
	}
	base, _ := lookup(environ, "GITHUB_BASE_REF")
	head, _ := lookup(environ, "GITHUB_SHA")
	return change.Scope{Base: base, CI: true, Head: head}
}
