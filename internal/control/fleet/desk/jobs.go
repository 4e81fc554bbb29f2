package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/fleet/board"
	"github.com/stopgate/stopgate/internal/control/fleet/job"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

// Jobs are those of the fleet, the newest first.
func (d *Desk) Jobs(_ context.Context, q *api.Query) (api.Page[daemonapi.Job], error) {
	s, err := d.session()
	if err != nil {
		return api.Page[daemonapi.Job]{}, err
	}
	wanted := func(yield func(job.Job) bool) {
		for _, j := range s.board.All() {
			wants := q.Allows(statusOf(j)) && q.AllowsTime(j.Added) && api.Is(q.Name, j.Spec.Project) && api.Is(q.Command, j.Spec.Command)
			if wants && !yield(j) {
				return
			}
		}
	}
	page := api.PageOf(wanted, func(j job.Job) api.Place { return api.Place{Time: j.Added, ID: j.ID} }, q)
	unheard, now := d.unheard(s), s.moment()
	return api.View(page, func(j job.Job) daemonapi.Job {
		v := view(j)
		v.Waits, v.Unheard = s.waits(j, now), unheard
		return v
	}), nil
}

// statusOf is one word for where a job stands.
func statusOf(j job.Job) string {
	switch j.State {
	case job.Asking:
		return "lost"
	case job.Ended:
		return j.Status
	}
	return string(j.State)
}

// view is a job as others see it.
func view(j job.Job) daemonapi.Job {
	v := daemonapi.Job{
		ID: j.ID, Project: j.Spec.Project, Command: j.Spec.Command, Args: j.Spec.Args, Needs: j.Spec.Needs, Only: j.Spec.Host,
		OnLost: cmp.Or(string(j.Spec.OnLost), string(job.Ask)), Cap: board.CapOf(j.Spec), Reserve: j.Spec.USD,
		Status: statusOf(j), Cancelling: j.Cancelling && j.State != job.Ended, Attempt: j.Attempt, Host: j.Member,
		Reason: j.Reason, Refused: j.Refused, USD: j.USD, By: j.By, Added: j.Added, Since: j.Since,
	}
	if j.Attempt > 0 {
		v.Owner = job.Owner(j.ID, j.Attempt)
	}
	if j.State == job.Asking {
		v.Decision = job.Question(j.ID, j.Losses)
	}
	v.Decided, v.DecidedOn = j.Decided, j.DecidedBy
	return v
}

// find finds a job by its id or the beginning of it. Without ask it does not wait for the fleet.
func (s *session) find(ctx context.Context, id string, ask bool) (job.Job, error) {
	if daemonapi.IsOwnerID(id) {
		if _, known := s.board.Job(id); !known && ask { // added this moment, or long ago
			if err := s.board.Fresh(ctx, id); err != nil {
				return job.Job{}, err
			}
		}
		switch j, known := s.board.Job(id); {
		case j.Trimmed():
			return j, api.Refusal("not_found", fmt.Sprintf("job %s is %s, and ended so long ago that no more is kept of it", id, j.Status), "stopgate job list --all")
		case known:
			return j, nil
		}
	}

	var found []job.Job
	for _, j := range s.board.All() {
		if strings.HasPrefix(j.ID, id) {
			found = append(found, j)
		}
	}
	switch len(found) {
	case 0:
		return job.Job{}, api.Refusal("not_found", "there is no job "+id, "stopgate job list")
	case 1:
		return found[0], nil
	}
	return job.Job{}, api.Refusal("conflict", fmt.Sprintf("%s is ambiguous (%d matches)", id, len(found)), "use more of the id: stopgate job list")
}

// Known is a job as this machine knows it, without asking the fleet; false where it knows of none.
func (d *Desk) Known(id string) (daemonapi.Job, bool) {
	d.mu.Lock()
	s := d.now
	d.mu.Unlock()
	if s == nil {
		return daemonapi.Job{}, false
	}
	j, known := s.board.Job(id)
	return view(j), known
}

// Job is one job, with why it waits.
func (d *Desk) Job(ctx context.Context, id string) (daemonapi.Job, error) {
	s, err := d.session()
	if err != nil {
		return daemonapi.Job{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	unheard := d.unheard(s)
	j, err := s.find(ctx, id, unheard == 0)
	switch {
	case unheard > 0 && daemonapi.Code(err) == "not_found", err != nil && daemonapi.Code(err) == "":
		return daemonapi.Job{}, api.Refusal("unavailable", "this machine does not know job "+id+", and the fleet does not answer", "see: stopgate fleet status")
	case err != nil:
		return daemonapi.Job{}, err
	}
	v := view(j)
	v.Waits, v.Unheard = s.waits(j, s.moment()), unheard
	return v, nil
}

// AddJob adds a job, once for an id. What the runbooks of the project here do not have is refused, unless it is for one
// machine, which may have others.
func (d *Desk) AddJob(ctx context.Context, a daemonapi.AddJob) (daemonapi.Job, error) {
	name, err := d.nameOf(a)
	if err == nil && a.ProjectName == "" && a.Only == "" {
		err = d.Check(a.Project, a.Command, a.Args)
	}
	if err != nil {
		return daemonapi.Job{}, err
	}
	return d.Add(ctx, a.ID, job.Spec{
		Project: name, Command: a.Command, Args: a.Args, Needs: a.Needs, Host: a.Only,
		OnLost: job.OnLost(a.OnLost), Cap: a.Cap, USD: a.Reserve,
	})
}

// Add adds what a job says, once for an id.
func (d *Desk) Add(ctx context.Context, id string, spec job.Spec) (daemonapi.Job, error) {
	if err := board.Check(spec); err != nil {
		return daemonapi.Job{}, api.Refusal("invalid", err.Error(), "")
	}
	s, err := d.reached(ctx, "added")
	if err != nil {
		return daemonapi.Job{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	j, err := s.board.Add(ctx, id, spec, func(j job.Job) ([]byte, error) { return d.Sign(j.Signed(s.link.Fleet)) })
	switch {
	case errors.Is(err, board.ErrTaken):
		return daemonapi.Job{}, api.Refusal("conflict", err.Error(), "see: stopgate job show "+id)
	case err != nil:
		return daemonapi.Job{}, d.failed(err, "added", "look before you add it again: stopgate job show "+id)
	}
	v := view(j)
	v.Waits = s.waitsAtFirst(ctx, id)
	return v, nil
}

// nameOf is the name in the fleet of the project that a job is for.
func (d *Desk) nameOf(a daemonapi.AddJob) (string, error) {
	if a.ProjectName != "" {
		return a.ProjectName, nil
	}
	if name := d.Name(a.Project); name != "" {
		return name, nil
	}
	return "", api.Refusal("invalid", "the fleet has no name for the project "+filepath.Clean(a.Project), "name it in the global configuration, under fleet.projects, or use --project NAME")
}

// CancelJob ends a job that no machine has. The machine that has one is told to end it.
func (d *Desk) CancelJob(ctx context.Context, id string) (daemonapi.Job, error) {
	s, err := d.reached(ctx, "changed")
	if err != nil {
		return daemonapi.Job{}, err
	}

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	j, err := s.find(ctx, id, true)
	if err == nil {
		err = s.board.Fresh(ctx, j.ID)
	}
	if err != nil {
		return daemonapi.Job{}, d.failed(err, "changed", "")
	}

	changed, err := s.board.Change(ctx, j.ID, func(j job.Job) (job.Fact, error) {
		if why := s.away(j.Member); why != "" {
			return j.Abandon(s.link.Member, why, d.time())
		}
		return j.Cancel(s.link.Member, d.time())
	})
	switch {
	case errors.Is(err, job.ErrState) && changed.Cancelling && changed.State != job.Ended: // asked for before
		return view(changed), nil
	case errors.Is(err, job.ErrState):
		return daemonapi.Job{}, api.Refusal("conflict", fmt.Sprintf("job %s had ended before: it is %s; nothing was changed", changed.ID, statusOf(changed)), "")
	case err != nil:
		return daemonapi.Job{}, d.failed(err, "changed", "look: stopgate job show "+j.ID+"; cancelling it again does no harm")
	}
	return view(changed), nil
}

// away is how a member is away, in a word; "" where it is there, or this cannot be told.
func (s *session) away(member string) string {
	peers := s.peers.Peers()
	at := func(name string) int {
		return slices.IndexFunc(peers, func(p daemonapi.FleetMember) bool { return p.Name == name })
	}
	switch i := at(member); {
	case i < 0 && at(s.link.Member) >= 0: // else the list is not complete
		return "no longer in the fleet"
	case i >= 0 && isAway(peers[i]):
		return peers[i].State
	}
	return ""
}

// isAway reports whether a member is known not to answer.
func isAway(p daemonapi.FleetMember) bool { return p.IsAway() && p.State != "unknown" }

// time is when a fact happens that is said here.
func (d *Desk) time() time.Time { return d.Now().UTC().Round(0) }

// Caps are all caps, by name.
func (d *Desk) Caps(context.Context) ([]daemonapi.Cap, error) {
	s, err := d.session()
	if err == nil && d.unheard(s) > 0 {
		err = api.Refusal("unavailable", "this machine is not connected to its fleet, and does not know what is used of its caps", "see: stopgate fleet status")
	}
	if err != nil {
		return nil, err
	}
	caps := s.board.Caps()
	if _, known := caps[board.DefaultCap]; !known {
		caps[board.DefaultCap] = job.Cap{}
	}
	all := []daemonapi.Cap{}
	for _, name := range slices.Sorted(maps.Keys(caps)) {
		all = append(all, capView(name, caps[name]))
	}
	return all, nil
}

func capView(name string, c job.Cap) daemonapi.Cap {
	return daemonapi.Cap{
		Name: name, Jobs: c.Limit.Jobs, USD: c.Limit.USD, Held: slices.Sorted(maps.Keys(c.Held)), Reserved: c.Reserved(), Spent: c.Spent,
	}
}

// SetCap changes a cap. Jobs that hold more than it allows from now on go on.
func (d *Desk) SetCap(ctx context.Context, c daemonapi.SetCap) (daemonapi.Cap, error) {
	if err := link.CheckName(c.Name); err != nil {
		return daemonapi.Cap{}, api.Refusal("invalid", err.Error(), "")
	}
	s, err := d.reached(ctx, "changed")
	if err != nil {
		return daemonapi.Cap{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	changed, err := s.board.SetCap(ctx, c.Name, func(l *job.Limit) {
		if c.Jobs != nil {
			l.Jobs = *c.Jobs
		}
		if c.USD != nil {
			l.USD = *c.USD
		}
	})
	if err != nil {
		return daemonapi.Cap{}, d.failed(err, "changed", "look: stopgate job cap list; setting it again does no harm")
	}
	return capView(c.Name, changed), nil
}
