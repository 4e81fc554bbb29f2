package gauntlet

import (
	"cmp"
	"encoding/json"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/regular"
)

// inCI reports whether we run in a CI job.
func inCI(variables []string) bool {
	return environ.Get(variables, "CI") == "true" || environ.Get(variables, "GITHUB_ACTIONS") == "true"
}

// ScopeOf is what counts as changed where nobody says otherwise: in CI the pull
// request or what was pushed, elsewhere the work since the base branch.
func ScopeOf(variables []string) change.Scope {
	if !inCI(variables) {
		return change.Scope{}
	}
	base := environ.Get(variables, "GITHUB_BASE_REF")
	head := environ.Get(variables, "GITHUB_SHA")
	scope := change.Scope{Base: base, CI: true, Head: head}
	if base == "" {
		scope.Before = replaced(variables)
	}
	scope.Before = cmp.Or(scope.Before, cmp.Or(head, "HEAD")+"^")
	return scope
}

// unknown is what GitHub says of the commit before the first one of a branch.
const unknown = "0000000000000000000000000000000000000000"

// replaced is the commit that the branch had before the push, as GitHub tells it. Other events, such as a
// schedule, brought nothing that could be told from the rest. It is empty where CI does not say.
func replaced(variables []string) string {
	switch environ.Get(variables, "GITHUB_EVENT_NAME") {
	case "":
		return ""
	case "push":
	default:
		return unknown
	}
	const most = 32 << 20 // GitHub sends at most 25 MB
	text, err := regular.Read(environ.Get(variables, "GITHUB_EVENT_PATH"), most)
	if err != nil {
		return ""
	}
	var push struct {
		Before string `json:"before"`
	}
	_ = json.Unmarshal(text, &push) // what is damaged does not say
	return push.Before
}
