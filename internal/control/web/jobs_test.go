package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
)

func (p *fakePlane) Jobs(_ context.Context, q *api.Query) (api.Page[daemonapi.Job], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noJobs != nil {
		return api.Page[daemonapi.Job]{}, p.noJobs
	}
	wanted := func(yield func(daemonapi.Job) bool) {
		for _, j := range p.jobs {
			if q.Allows(j.Status) && !yield(j) {
				return
			}
		}
	}
	return api.PageOf(wanted, func(j daemonapi.Job) api.Place { return api.Place{Time: j.Added, ID: j.ID} }, q), nil
}

func (p *fakePlane) Job(_ context.Context, id string) (daemonapi.Job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, j := range p.jobs {
		if j.ID == id {
			return j, p.noJobs
		}
	}
	return daemonapi.Job{}, missing("there is no job %s", id)
}

func (p *fakePlane) CancelJob(_ context.Context, id string) (daemonapi.Job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refusal != nil {
		return daemonapi.Job{}, p.refusal
	}
	for i := range p.jobs {
		if p.jobs[i].ID == id {
			p.jobs[i].Cancelling = true
		}
	}
	return daemonapi.Job{}, nil
}

func (p *fakePlane) Caps(context.Context) ([]daemonapi.Cap, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.caps, p.noJobs
}

// jobID is the id of a job of a test.
func jobID(digit string) string { return strings.Repeat(digit, 16) }

// queued puts a job in each status on the scene.
func (s *scene) queued() {
	now := time.Now()
	job := func(digit, command, status, host string) daemonapi.Job {
		return daemonapi.Job{
			ID: jobID(digit), Project: "shop", Command: command, OnLost: "ask", Cap: "default", Status: status, Host: host, By: "laptop",
			Added: now.Add(-time.Hour), Since: now.Add(-time.Minute),
		}
	}
	waiting, claimed, running, lost, failed := job("1", "train", "pending", ""), job("2", "lint", "claimed", "vps"), job("3", "fix", "running", "vps"), job("4", "nightly", "lost", "desk"), job("5", "build", "failed", "vps")
	waiting.Args, waiting.Needs, waiting.Waits = []string{"<b>all</b>"}, []string{"gpu"}, []string{"no machine has the label gpu", "silent: <i>desk</i>"}
	running.Attempt, running.Owner, running.USD, running.OnLost = 2, jobID("a"), 0.25, "again"
	running.Asks = jobID("8")
	lost.Attempt, lost.Owner, lost.Decision = 1, jobID("b"), jobID("9")
	failed.Reason, failed.Refused = "exit status 3", map[string]string{"desk": "project shop is not mapped"}
	s.plane.set(func() {
		s.plane.fleet = lab()
		s.plane.jobs = []daemonapi.Job{waiting, claimed, running, lost, failed}
		s.plane.caps = []daemonapi.Cap{{Name: "default", Jobs: 2, USD: 50, Held: []string{jobID("3"), jobID("4")}, Reserved: 5, Spent: 12.5}, {Name: "nightly"}}
	})
}

// The page of jobs says what each is, where it is and why it waits; those that have ended are asked for.
func TestIssue20JobsOnPages(t *testing.T) {
	s := newScene(t)
	s.queued()
	v := s.signedIn()
	for path, want := range map[string][]string{
		"/": {`href="/jobs"`},
		"/jobs": {
			"train &lt;b&gt;all&lt;/b&gt;", "no machine has the label gpu; silent: &lt;i&gt;desk&lt;/i&gt;", `<span class="unseen">on </span>vps</span> shop`, `<span class="state bad">lost</span>`, `<span class="state busy">claimed</span>`,
			`href="/jobs/` + jobID("3") + `"`, "$0.25", "2 of 2 jobs", "$12.50 spent, $5.00 reserved of $50.00", `<span class="state warn">full</span>`, "0 jobs, no limit",
		},
		"/jobs?status=failed": {"exit status 3"},
		"/jobs?status=done":   {"No job is like that."},
		"/jobs/" + jobID("1"): {"no machine has the label gpu", "Needs", "No machine will take it.", "you are asked", `action="/jobs/` + jobID("1") + `/cancel"`},
		"/jobs/" + jobID("3"): {`href="/pipelines/` + jobID("a") + `"`, "another one runs it again", "$0.25", "<dt>Attempt</dt><dd>2</dd>", "vps cancels its pipeline.", `href="/inbox/` + jobID("8") + `"`, "on vps asks you something"},
		"/jobs/" + jobID("4"): {`href="/inbox/` + jobID("9") + `"`, "desk does not report"},
		"/jobs/" + jobID("5"): {"exit status 3", "project shop is not mapped", "Ended"},
		"/jobs/" + jobID("7"): {"there is no job"},
		"/jobs/train":         {"There is no such job."},
	} {
		body := v.get(path).body
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%s: no %q in %s", path, text, body)
			}
		}
	}
	for path, not := range map[string]string{
		"/jobs": "exit status 3", "/jobs?status=failed": "train", "/jobs/" + jobID("5"): "Cancel this job", "/jobs/" + jobID("2"): "/pipelines/" + jobID("a"),
	} {
		if body := v.get(path).body; strings.Contains(body, not) {
			t.Errorf("%s has %q: %s", path, not, body)
		}
	}
}

// A list of jobs has an end, and leads to the next part.
func TestIssue20JobsInParts(t *testing.T) {
	s := newScene(t)
	s.queued()
	s.plane.set(func() {
		for i := range 2 * pageSize {
			j := s.plane.jobs[0]
			j.ID, j.Added = strings.Repeat("c", 13)+string(rune('0'+i/10))+string(rune('0'+i%10))+"c", j.Added.Add(-time.Duration(i)*time.Second)
			s.plane.jobs = append(s.plane.jobs, j)
		}
	})
	v := s.signedIn()
	body := v.get("/jobs").body
	if n := strings.Count(body, `<li id="j-`); n != pageSize {
		t.Errorf("%d jobs", n)
	}
	_, rest, found := strings.Cut(body, `<p class="more"><a href="`)
	next, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatal(body)
	}
	if body := v.get(strings.ReplaceAll(next, "&amp;", "&")).body; strings.Count(body, `<li id="j-`) != pageSize || !strings.Contains(body, "Newest") {
		t.Error(body)
	}
}

// While the fleet does not answer, the page says how old it is, or why it shows nothing.
func TestIssue20JobsWhileTheFleetIsAway(t *testing.T) {
	s := newScene(t)
	s.queued()
	v := s.signedIn()
	s.plane.set(func() {
		for i := range s.plane.jobs {
			s.plane.jobs[i].Unheard = 250
		}
	})
	for _, path := range []string{"/jobs", "/jobs/" + jobID("1")} {
		if body := v.get(path).body; !strings.Contains(body, "this is as of 4 min ago") {
			t.Errorf("%s: %s", path, body)
		}
	}
	s.plane.set(func() {
		s.plane.noJobs = &api.Error{Failure: daemonapi.Failure{Code: "unavailable", Error: "this machine is not connected to its fleet, and does not know the jobs"}}
	})
	if r := v.get("/jobs"); r.status != http.StatusOK || !strings.Contains(r.body, "does not know the jobs") || strings.Contains(r.body, "No job waits") {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A job is cancelled by a form of the page alone. Where that cannot be done, the person is told why.
func TestIssue20AJobIsCancelledOnItsPage(t *testing.T) {
	s := newScene(t)
	s.queued()
	v := s.signedIn()
	cancelling := func() bool {
		return slices.ContainsFunc(s.plane.jobs, func(j daemonapi.Job) bool { return j.Cancelling })
	}
	path := "/jobs/" + jobID("3") + "/cancel"
	for _, token := range []string{"", "another"} {
		if r := v.do(v.form(path, url.Values{"csrf": {token}})); r.status != http.StatusForbidden || cancelling() {
			t.Errorf("with the token %q: %d", token, r.status)
		}
	}
	if r := v.get(path); r.status == http.StatusOK || cancelling() {
		t.Errorf("by a link: %d", r.status)
	}
	form := v.form(path, url.Values{"csrf": {v.csrf()}})
	form.Header.Set("Stopgate-Script", "1")
	s.plane.set(func() {
		s.plane.refusal = &daemonapi.Error{Failure: daemonapi.Failure{Code: "unavailable", Error: "the fleet does not answer: nothing was changed"}}
	})
	if r := v.do(form); r.status != http.StatusServiceUnavailable || r.body != "the fleet does not answer: nothing was changed" {
		t.Errorf("%d %q", r.status, r.body)
	}
	s.plane.set(func() { s.plane.refusal = nil })
	if r := v.do(v.form(path, url.Values{"csrf": {v.csrf()}})); r.status != http.StatusOK || !strings.Contains(r.body, "It is being cancelled on vps.") {
		t.Errorf("%d %s", r.status, r.body)
	}
}
