package daemonapi

import (
	"context"
	"net/url"
	"time"
)

// Job is one of GET /v1/jobs: a command of a project that any machine of the fleet may run.
type Job struct {
	ID      string   `json:"id"`
	Project string   `json:"project"` // its name in the fleet
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Needs   []string `json:"needs,omitempty"`   // labels that a machine must have
	Only    string   `json:"only,omitempty"`    // the only machine that may do it
	OnLost  string   `json:"on_lost"`           // ask, again
	Cap     string   `json:"cap"`               // that it counts against
	Reserve float64  `json:"reserve,omitempty"` // USD that it reserves of the cap where the runbook has no budget
	// Status is pending, claimed (a machine has it and has not started it yet), running, lost (its machine is
	// not heard of, and a person decides), done, failed or cancelled.
	Status     string `json:"status"`
	Cancelling bool   `json:"cancelling,omitempty"` // its machine is told to end it
	Attempt    int    `json:"attempt,omitempty"`    // from 1; 0 before the first
	Host       string `json:"host,omitempty"`       // the machine of the last attempt
	Owner      string `json:"owner,omitempty"`      // the pipeline or run of the last attempt, on that machine
	Kind       string `json:"kind,omitempty"`       // of Owner: pipeline or run; left out where that is not known here
	Reason     string `json:"reason,omitempty"`     // why it failed or was cancelled
	// Refused are the machines that could not start it, with why.
	Refused map[string]string `json:"refused,omitempty"`
	// Waits are why no machine has taken it yet, or what became of the machine that has it.
	Waits []string `json:"waits,omitempty"`
	// Decision is the id of what a person is asked about it, while it is lost.
	Decision string `json:"decision,omitempty"`
	// Asks is the id of the decision that its pipeline or run waits for.
	Asks string `json:"asks,omitempty"`
	// Decided is what a person has decided when its machine was lost the last time (wait, again, cancel), and DecidedOn the
	// machine where.
	Decided   string    `json:"decided,omitempty"`
	DecidedOn string    `json:"decided_on,omitempty"`
	USD       float64   `json:"usd,omitempty"` // what it has cost, as far as its machines said
	By        string    `json:"by"`            // the machine on which it was added
	Added     time.Time `json:"added"`
	Since     time.Time `json:"since"` // of its status
	// Unheard is for how many seconds the fleet has not answered this machine: so old is what is shown. It is left out
	// while the fleet answers.
	Unheard float64 `json:"unheard,omitempty"`
}

// AddJob is the body of POST /v1/jobs. Adding the same id again changes nothing.
type AddJob struct {
	ID string `json:"id"` // 16 hex digits
	// ProjectName is the project's name in the fleet. In its place Project may be its root on this machine, whose
	// configuration has its name; else it is that of the directory.
	ProjectName string   `json:"project_name,omitempty"`
	Project     string   `json:"project,omitempty"`
	Command     string   `json:"command"`
	Args        []string `json:"args,omitempty"`
	Needs       []string `json:"needs,omitempty"`
	Only        string   `json:"only,omitempty"`
	OnLost      string   `json:"on_lost,omitempty"` // ask where it is left out
	Cap         string   `json:"cap,omitempty"`     // default where it is left out
	Reserve     float64  `json:"reserve,omitempty"`
}

// CancelJob is the body of POST /v1/jobs/{id}/cancel.
type CancelJob struct{}

// Cap is one of GET /v1/caps: a limit on jobs that holds across all machines of the fleet.
type Cap struct {
	Name     string   `json:"name"`
	Jobs     int      `json:"jobs,omitempty"` // at most so many at once; 0 is any number
	USD      float64  `json:"usd,omitempty"`  // at most so much in all; 0 is no limit
	Held     []string `json:"held,omitempty"` // the jobs that count now
	Reserved float64  `json:"reserved,omitempty"`
	Spent    float64  `json:"spent,omitempty"` // by jobs that have ended
}

// SetCap is the body of POST /v1/caps. What is left out stays as it is.
type SetCap struct {
	Name string   `json:"name"`
	Jobs *int     `json:"jobs,omitempty"`
	USD  *float64 `json:"usd,omitempty"`
}

// Jobs are those of the fleet that a filter lets through, the newest first.
func (c *Client) Jobs(ctx context.Context, f Filter) ([]Job, error) {
	return list[Job](ctx, c, "/v1/jobs"+f.query(), f.Limit)
}

// Job finds a job by its id or the beginning of it.
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	return get[Job](ctx, c, "/v1/jobs/"+url.PathEscape(id))
}

// AddJob adds a job. An ID is made where there is none.
func (c *Client) AddJob(ctx context.Context, j AddJob) (Job, error) {
	j.ID = orNewID(j.ID)
	return post[Job](ctx, c, "/v1/jobs", j)
}

// CancelJob ends a job, or has its machine end it.
func (c *Client) CancelJob(ctx context.Context, id string) (Job, error) {
	return post[Job](ctx, c, "/v1/jobs/"+url.PathEscape(id)+"/cancel", CancelJob{})
}

// Caps are all caps, by name.
func (c *Client) Caps(ctx context.Context) ([]Cap, error) { return get[[]Cap](ctx, c, "/v1/caps") }

// SetCap changes a cap.
func (c *Client) SetCap(ctx context.Context, s SetCap) (Cap, error) {
	return post[Cap](ctx, c, "/v1/caps", s)
}
