package api

import (
	"context"
	"testing"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

func aJob() daemonapi.Job {
	return daemonapi.Job{
		ID: "0123456789abcdef", Project: "shop", Command: "fix", Args: []string{"17"}, Needs: []string{"gpu"}, OnLost: "ask", Cap: "default", Reserve: 2,
		Status: "pending", Refused: map[string]string{"vps": "w"}, Waits: []string{"no machine has the label gpu"}, By: "laptop", Added: when, Since: when,
	}
}

func aCap() daemonapi.Cap {
	return daemonapi.Cap{Name: "default", Jobs: 4, USD: 20, Held: []string{"0123456789abcdef"}, Reserved: 2, Spent: 1}
}

func (p *fakePlane) Jobs(_ context.Context, q *Query) (Page[daemonapi.Job], error) {
	p.called("jobs %q %q", q.Name, q.Status)
	return Page[daemonapi.Job]{Items: []daemonapi.Job{aJob()}}, p.failWith
}

func (p *fakePlane) Job(_ context.Context, id string) (daemonapi.Job, error) {
	p.called("job %q", id)
	return aJob(), p.failWith
}

func (p *fakePlane) AddJob(_ context.Context, j daemonapi.AddJob) (daemonapi.Job, error) {
	p.called("add job %+v", j)
	return aJob(), p.failWith
}

func (p *fakePlane) CancelJob(_ context.Context, id string) (daemonapi.Job, error) {
	p.called("cancel job %q", id)
	return aJob(), p.failWith
}

func (p *fakePlane) Caps(context.Context) ([]daemonapi.Cap, error) {
	p.called("caps")
	return []daemonapi.Cap{aCap()}, p.failWith
}

func (p *fakePlane) SetCap(_ context.Context, s daemonapi.SetCap) (daemonapi.Cap, error) {
	p.called("set cap %s %d", s.Name, *s.Jobs)
	return aCap(), p.failWith
}

// What could be no job, whatever the fleet is, is refused before it is asked.
func TestJobsAreChecked(t *testing.T) {
	good := daemonapi.AddJob{ID: "0123456789abcdef", ProjectName: "shop", Command: "fix"}
	check(t, checkJob(good))
	for name, wrong := range map[string]func(*daemonapi.AddJob){
		"id":           func(j *daemonapi.AddJob) { j.ID = "1" },
		"no command":   func(j *daemonapi.AddJob) { j.Command = "" },
		"no project":   func(j *daemonapi.AddJob) { j.ProjectName = "" },
		"two projects": func(j *daemonapi.AddJob) { j.Project = "/p" },
		"a relative project": func(j *daemonapi.AddJob) {
			j.ProjectName, j.Project = "", "p"
		},
		"a NUL byte": func(j *daemonapi.AddJob) { j.Args = []string{"\x00"} },
	} {
		bad := good
		if wrong(&bad); checkJob(bad) == nil {
			t.Errorf("%s: %+v", name, bad)
		}
	}

	less, usd := -1, -0.5
	for _, bad := range []daemonapi.SetCap{{Jobs: new(int)}, {Name: "x"}, {Name: "x", Jobs: &less}, {Name: "x", USD: &usd}} {
		if checkCap(bad) == nil {
			t.Errorf("%+v", bad)
		}
	}
}
