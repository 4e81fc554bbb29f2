package ask

import (
	"slices"

	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/project/config"
)

// Needed is what a member needs to be allowed for a route. A route that is not here is not for other
// members at all: a new one is refused until it is put here.
//
// Not here are: what is for the hooks of an agent on its machine; what decides about the machine itself (stop,
// backup, prune, the web page, workspaces, queues of work, schedules, workers); and streams that do not end.
func Needed(r api.Route) (right config.FleetRight, allowed bool) {
	right, allowed = needed[r.Method+" "+r.Path]
	return right, allowed
}

var needed = map[string]config.FleetRight{
	"GET /v1/version":                  config.FleetView,
	"GET /v1/pipelines":                config.FleetView,
	"GET /v1/pipelines/{id}":           config.FleetView,
	"GET /v1/pipelines/{id}/log":       config.FleetView,
	"GET /v1/pipelines/{id}/graph":     config.FleetView,
	"GET /v1/pipelines/{id}/graph.svg": config.FleetView,
	"GET /v1/runs":                     config.FleetView,
	"GET /v1/runs/{id}":                config.FleetView,
	"GET /v1/runs/{id}/log":            config.FleetView,
	"GET /v1/runs/{id}/graph":          config.FleetView,
	"GET /v1/runs/{id}/graph.svg":      config.FleetView,
	"GET /v1/agents":                   config.FleetView,
	"GET /v1/agents/{id}":              config.FleetView,
	"GET /v1/agents/{id}/conversation": config.FleetView,
	"GET /v1/agents/{id}/screen":       config.FleetView,
	"GET /v1/decisions":                config.FleetView,
	"GET /v1/decisions/{id}":           config.FleetView,

	"POST /v1/decisions/{id}/answer": config.FleetAnswer,

	"POST /v1/start":                 config.FleetRun,
	"POST /v1/pipelines/{id}/cancel": config.FleetRun,
	"POST /v1/pipelines/{id}/resume": config.FleetRun,
	"POST /v1/runs/{id}/cancel":      config.FleetRun,
	"POST /v1/runs/{id}/resume":      config.FleetRun,
	"POST /v1/agents/{id}/send":      config.FleetRun,
	"POST /v1/agents/{id}/kill":      config.FleetRun,
}

// May reports whether a user of the fleet may do something here. The machine's own user may do everything.
// One who may answer or run may see what there is: it could not be done blindly.
func May(allow []config.FleetAllow, me, user string, right config.FleetRight) bool {
	if user == "" {
		return false
	}
	if me != "" && user == me {
		return true
	}
	for _, a := range allow {
		if a.User != "*" && a.User != user {
			continue
		}
		if slices.Contains(a.May, right) || right == config.FleetView && len(a.May) > 0 {
			return true
		}
	}
	return false
}
