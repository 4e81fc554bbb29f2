package api

import (
	"context"
	"math"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// JobPlane is what the fleet does on whichever of its machines has room.
type JobPlane interface {
	Jobs(ctx context.Context, q *Query) (Page[daemonapi.Job], error)
	Job(ctx context.Context, id string) (daemonapi.Job, error)
	AddJob(ctx context.Context, j daemonapi.AddJob) (daemonapi.Job, error)
	CancelJob(ctx context.Context, id string) (daemonapi.Job, error)
	// Caps are all that jobs count against, by name.
	Caps(ctx context.Context) ([]daemonapi.Cap, error)
	SetCap(ctx context.Context, s daemonapi.SetCap) (daemonapi.Cap, error)
}

// jobStatuses are what the status of a job can be.
var jobStatuses = []string{"pending", "claimed", "running", "lost", "done", "failed", "cancelled"}

func jobRoutes() []Route {
	return []Route{
		{
			Method: "GET", Path: "/v1/jobs", Summary: "The jobs of the fleet, newest first." + linked, Answer: []daemonapi.Job{}, handle: pages(Plane.Jobs),
			Query: paged(
				Parameter{"status", "Only those with one of these, separated by commas: " + strings.Join(jobStatuses, ", ") + ".", several(oneAmong(jobStatuses))},
				Parameter{"name", "Only those of the project with this name in the fleet.", isText},
				Parameter{"command", "Only those that run this command.", isText},
			),
		},
		{Method: "GET", Path: "/v1/jobs/{id}", Summary: "One job, by id or id prefix.", Answer: daemonapi.Job{}, handle: one(Plane.Job)},
		{Method: "POST", Path: "/v1/jobs", Summary: "Add a job to the fleet. Repeating the same id adds nothing.", Body: daemonapi.AddJob{}, Answer: daemonapi.Job{}, handle: posted(inPath, checkJob, byBody(Plane.AddJob))},
		{Method: "POST", Path: "/v1/jobs/{id}/cancel", Summary: "Cancel a job. A machine that has it ends it.", Body: daemonapi.CancelJob{}, Answer: daemonapi.Job{}, handle: posted(inPath, checkCancelJob, byID[daemonapi.CancelJob](Plane.CancelJob))},
		{Method: "GET", Path: "/v1/caps", Summary: "The caps that jobs count against, by name.", Answer: []daemonapi.Cap{}, handle: (*server).caps},
		{Method: "POST", Path: "/v1/caps", Summary: "Change a cap.", Body: daemonapi.SetCap{}, Answer: daemonapi.Cap{}, handle: posted(inPath, checkCap, byBody(Plane.SetCap))},
	}
}

func (s *server) caps(r *request) (any, error) {
	caps, err := s.plane.Caps(r.Context())
	return list(caps), err
}

func checkJob(b daemonapi.AddJob) error {
	switch {
	case !daemonapi.IsOwnerID(b.ID):
		return invalid("field %q must be 16 hex digits, not %.80q", "id", b.ID)
	case b.Command == "":
		return invalid("field %q is missing", "command")
	case (b.Project == "") == (b.ProjectName == ""):
		return invalid("one of the fields %q and %q is needed", "project_name", "project")
	case b.Project != "" && absolute(b.Project) != nil:
		return invalid("field %q: %v", "project", absolute(b.Project))
	}
	return checkTexts(append([]string{b.Command}, b.Args...)...)
}

func checkCancelJob(daemonapi.CancelJob) error { return nil }

func checkCap(b daemonapi.SetCap) error {
	switch {
	case b.Name == "":
		return invalid("field %q is missing", "name")
	case b.Jobs == nil && b.USD == nil:
		return invalid("one of the fields %q and %q is needed", "jobs", "usd")
	case b.Jobs != nil && (*b.Jobs < 0 || *b.Jobs > math.MaxInt32):
		return invalid("field %q must be 0 or more, not %d", "jobs", *b.Jobs)
	case b.USD != nil && !(*b.USD >= 0 && *b.USD <= 1e9):
		return invalid("field %q must be 0 or more, not %g", "usd", *b.USD)
	}
	return nil
}
