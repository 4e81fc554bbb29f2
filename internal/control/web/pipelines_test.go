package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/agents/errand"
	"github.com/stopgate/stopgate/internal/control/api"
)

// fakePipelines is what a test has put into the fake plane about pipelines.
type fakePipelines struct {
	graph   daemonapi.Graph
	log     string
	cancels []daemonapi.Cancel
	resumes []daemonapi.Resume
}

func (p *fakePlane) Projects() (roots []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.owners {
		if !slices.Contains(roots, o.Project) {
			roots = append(roots, o.Project)
		}
	}
	return roots
}

func (p *fakePlane) Owner(_ context.Context, id string) (daemonapi.Owner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.owners {
		if o.ID == id {
			return o, nil
		}
	}
	return daemonapi.Owner{}, missing("there is no pipeline %s", id)
}

func (p *fakePlane) Graph(context.Context, string) (daemonapi.Graph, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pipelines.graph, nil
}

func (p *fakePlane) Log(_ context.Context, _ string, q api.LogQuery, to io.Writer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.pipelines.log
	from := min(q.Offset, int64(len(text)))
	q.Begin(from, int64(len(text)))
	_, err := io.WriteString(to, text[from:min(from+q.Limit, int64(len(text)))])
	return err
}

func (p *fakePlane) Cancel(_ context.Context, id string, c daemonapi.Cancel) (daemonapi.Owner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pipelines.cancels = append(p.pipelines.cancels, c)
	return daemonapi.Owner{ID: id}, p.refusal
}

func (p *fakePlane) Resume(_ context.Context, id string, r daemonapi.Resume) (daemonapi.Owner, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pipelines.resumes = append(p.pipelines.resumes, r)
	return daemonapi.Owner{ID: id}, p.refusal
}

const pipelineID = "0123456789abcdef"

// aPipeline is one that waits for a person in its second step.
func aPipeline() daemonapi.Owner {
	now := time.Now().Add(-10 * time.Minute)
	finished := now.Add(90 * time.Second)
	return daemonapi.Owner{
		ID: pipelineID, Kind: "pipeline", Name: "release", Command: "release", Project: "/home/me/shop", Step: "approve", Status: "waiting",
		Created: now, Updated: now, Worked: 90, USD: 1.25, Vars: map[string]string{"version": "2.4.0"}, By: "schedule",
		Steps: []daemonapi.Visit{
			{Step: "test", Started: now, Finished: &finished, Outcome: "completed"},
			{Step: "approve", Attempt: 2, Started: finished, Outcome: "waiting"},
		},
		Outputs:    map[string]daemonapi.Output{"test": {Values: map[string]string{"count": "214"}}},
		Decision:   &daemonapi.Decision{ID: "dec1", Context: "Release 2.4.0?", Created: finished},
		Workspaces: []daemonapi.Workspace{{Kind: "worktree", Path: "/state/ws/1", Branch: "release/2.4.0", State: "kept", Kept: "it has commits"}},
	}
}

var aGraph = daemonapi.Graph{
	Name: "release",
	Nodes: []daemonapi.Node{
		{Name: "test", What: "sh: make test", State: "done"}, {Name: "approve", What: "asks: Release?", State: "waiting", Current: true}, {Name: "ship", What: "sh: ./ship", State: "not_reached"},
	},
	Edges: []daemonapi.Edge{{From: "test", To: "approve", On: "done"}, {From: "approve", To: "ship", On: "release"}, {From: "ship", To: "done", On: "done"}},
}

func contains(t *testing.T, page string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q:\n%s", part, page[strings.Index(page, "<main"):])
		}
	}
}

// The list is in pages, and can be narrowed by status and project.
func TestIssue18PipelinesAreListedAndFiltered(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	contains(t, v.get("/pipelines").body, "No pipeline has run yet.", "stopgate start")
	s.plane.set(func() {
		s.plane.status.Pipelines = daemonapi.Counts{Waiting: 1, Failed: 1}
		failed := daemonapi.Owner{ID: "fedcba9876543210", Kind: "pipeline", Name: "lint", Project: "/home/me/blog", Status: "failed", Reason: "exit 1", Created: time.Now()}
		s.plane.owners = []daemonapi.Owner{aPipeline(), failed}
	})
	contains(t, v.get("/pipelines").body, `href="/pipelines/`+pipelineID+`"`, "release", "lint", "exit 1", `<option value="/home/me/blog"`)
	if page := v.get("/pipelines?status=failed").body; !strings.Contains(page, "lint") || strings.Contains(page, `<b>release</b>`) {
		t.Errorf("%s", page)
	}
	contains(t, v.get("/pipelines?status=cancelled").body, "No pipeline is like that.")
	contains(t, v.get("/pipelines?project=/home/me/shop").body, `<option value="/home/me/shop" selected>`)
	if r := v.get("/pipelines?after=zzz"); r.status != http.StatusNotFound {
		t.Errorf("a cursor that is none: %d", r.status)
	}
}

// One page says all about a pipeline: why it is there, its steps, what they left, what was asked, and
// what it is part of.
func TestIssue18PipelineIsShown(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	s.plane.set(func() {
		s.plane.owners, s.plane.pipelines.graph = []daemonapi.Owner{aPipeline()}, aGraph
		s.plane.pipelines.log = errand.Line(time.Now(), "test", "214 tests passed") + errand.Line(time.Now(), "approve", "waiting for a decision")
		asked := time.Now()
		s.plane.decisions = []daemonapi.Decision{{ID: "d0", Owner: pipelineID, Context: "Test again?", Resolved: &asked, Chosen: "no"}}
	})
	page := v.get("/pipelines/" + pipelineID).body
	contains(t, page, "Release 2.4.0?", `href="/inbox#dec1"`, `class="step state-waiting"`, `aria-label="Pipeline release: test done, approve waiting, ship not reached"`,
		"1 min 30 s", "attempt 2", "not reached", "214 tests passed", "1 output", "<code>count</code>", "$1.25", "release/2.4.0", "it has commits", "Test again?", "2.4.0", "schedule",
		`action="/pipelines/`+pipelineID+`/cancel"`)
	if strings.Contains(page, "/resume") {
		t.Error("a pipeline that waits for an answer can be resumed")
	}
	page = v.get("/pipelines/" + pipelineID + "?step=test").body
	contains(t, page, "Log of test", "214 tests passed")
	if strings.Contains(page, "waiting for a decision") {
		t.Error("the log of a step has lines of another")
	}
	for _, path := range []string{"/pipelines/ffffffffffffffff", "/pipelines/nonsense", "/pipelines/0123"} {
		if r := v.get(path); r.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.status)
		}
	}
}

// A log is shown from its end, in parts that have a size, and the parts leave nothing out.
func TestIssue18LogsAreReadInParts(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	var text strings.Builder
	const lines = 5000
	for i := range lines {
		text.WriteString(errand.Line(time.Now(), "test", fmt.Sprintf("line-%d-", i)))
	}
	s.plane.set(func() {
		s.plane.owners, s.plane.pipelines.log = []daemonapi.Owner{aPipeline()}, text.String()
	})
	seen, address := map[string]bool{}, "/pipelines/"+pipelineID
	parts := 0
	for ; address != "" && parts < lines; parts++ {
		page := v.get(address).body
		if len(page) > 100_000 {
			t.Fatalf("a page of %d bytes", len(page))
		}
		for _, line := range strings.Split(page, "line-")[1:] {
			number, _, _ := strings.Cut(line, "-")
			if seen[number] {
				t.Fatalf("line %s stands twice", number)
			}
			seen[number] = true
		}
		address = ""
		if _, rest, found := strings.Cut(page, `<p class="earlier"><a href="`); found {
			address, _, _ = strings.Cut(rest, "#")
			address = strings.ReplaceAll(address, "&amp;", "&")
		}
	}
	if len(seen) != lines || parts != lines/logLines {
		t.Errorf("%d lines in %d parts", len(seen), parts)
	}
}

// One line that is longer than all that is read leads to an earlier part all the same.
func TestIssue18ALongLineOfALogIsCut(t *testing.T) {
	s := newScene(t)
	s.plane.set(func() {
		s.plane.owners, s.plane.pipelines.log = []daemonapi.Owner{aPipeline()}, "first\n"+strings.Repeat("x", 10<<20)
	})
	page := s.signedIn().get("/pipelines/" + pipelineID).body
	if len(page) > 100_000 || !strings.Contains(page, "Earlier") {
		t.Errorf("%d bytes", len(page))
	}
}

// Thousands of parts are counted, and those that need a person are listed first.
func TestIssue18PipelineTreeIsBounded(t *testing.T) {
	s := newScene(t)
	top := aPipeline()
	for i := range 3000 {
		top.Children = append(top.Children, daemonapi.Child{Name: fmt.Sprintf("fix-%d", i), Step: "fix", ID: fmt.Sprintf("%016x", i+1), Item: fmt.Sprintf("item %d", i), Status: "done"})
	}
	top.Children[2999].Status, top.Children[2999].Reason = "failed", "exit 7"
	child := daemonapi.Owner{ID: fmt.Sprintf("%016x", 2000), Name: "fix", Status: "done", Parent: pipelineID, Created: time.Now()}
	s.plane.set(func() { s.plane.owners = []daemonapi.Owner{top, child} })
	v := s.signedIn()
	page := v.get("/pipelines/" + pipelineID).body
	contains(t, page, "3000 parts: 1 failed, 2999 done", "exit 7", "2970 more")
	if len(page) > 100_000 {
		t.Errorf("%d bytes", len(page))
	}
	page = v.get("/pipelines/" + child.ID).body
	contains(t, page, `<a href="/pipelines/`+pipelineID+`">release</a></nav>`, `<div class="leaf" aria-current="true">`, "item 1999", "exit 7")
}

// Whatever an agent writes into a field is text.
func TestIssue18PipelinePagesShowHostileTextHarmless(t *testing.T) {
	s := newScene(t)
	o := aPipeline()
	o.Name, o.Command, o.Project, o.Step, o.Reason, o.Error, o.By = hostile, hostile, "/"+hostile, hostile, hostile, hostile, hostile
	o.Status, o.Decision.Context, o.Vars, o.Outputs = "failed", hostile, map[string]string{hostile: hostile}, map[string]daemonapi.Output{hostile: {Values: map[string]string{hostile: hostile}, Signal: hostile}}
	for i := range o.Steps {
		o.Steps[i].Step, o.Steps[i].Error, o.Steps[i].Outcome = hostile, hostile, hostile
	}
	o.Workspaces = []daemonapi.Workspace{{Kind: hostile, Path: hostile, Branch: hostile, Base: hostile, State: hostile, Kept: hostile, Note: hostile, Agent: hostile}}
	o.Children = []daemonapi.Child{{Name: hostile, Step: hostile, Item: hostile, Status: hostile, Reason: hostile}}
	o.Agent = &daemonapi.Agent{Name: hostile, Status: hostile, Session: hostile}
	s.plane.set(func() {
		s.plane.owners = []daemonapi.Owner{o}
		s.plane.pipelines.log = errand.Line(time.Now(), hostile, hostile) + hostile
		s.plane.pipelines.graph = daemonapi.Graph{Name: hostile, Nodes: []daemonapi.Node{{Name: hostile, What: hostile, State: hostile}, {Name: "b", State: "done"}}, Edges: []daemonapi.Edge{{From: hostile, To: "b", On: hostile}}}
		s.plane.decisions = []daemonapi.Decision{{ID: "d0", Owner: pipelineID, Context: hostile, Step: hostile, Resolved: &o.Created, Chosen: hostile, Message: hostile}}
	})
	v := s.signedIn()
	for _, address := range []string{"/pipelines", "/pipelines?project=" + url.QueryEscape(hostile) + "&status=" + url.QueryEscape(hostile), "/pipelines/" + pipelineID, "/pipelines/" + pipelineID + "?step=" + url.QueryEscape(hostile)} {
		r := v.get(address)
		if r.status != http.StatusOK {
			t.Fatalf("%d: %s", r.status, r.body)
		}
		harmless(t, r.body)
	}
}

// Cancel and resume need the form's token, and lead back to the page.
func TestIssue18PipelinesAreCancelledAndResumedByForms(t *testing.T) {
	s := newScene(t)
	failed := aPipeline()
	failed.Status, failed.Decision, failed.Reason = "failed", nil, "exit 1"
	s.plane.set(func() { s.plane.owners = []daemonapi.Owner{failed} })
	v := s.signedIn()
	contains(t, v.get("/pipelines/"+pipelineID).body, `action="/pipelines/`+pipelineID+`/resume"`, "exit 1")
	for _, what := range []string{"cancel", "resume"} {
		path := "/pipelines/" + pipelineID + "/" + what
		if r := v.do(v.form(path, url.Values{})); r.status != http.StatusForbidden {
			t.Errorf("%s without a token: %d", what, r.status)
		}
		cross := v.form(path, url.Values{"csrf": {v.csrf()}})
		cross.Header.Set("Origin", "https://evil.example")
		if r := v.do(cross); r.status != http.StatusForbidden {
			t.Errorf("%s from another site: %d", what, r.status)
		}
		if r := v.get(path); r.status == http.StatusOK {
			t.Errorf("%s by GET", what)
		}
	}
	if n := len(s.plane.pipelines.cancels) + len(s.plane.pipelines.resumes); n != 0 {
		t.Fatalf("%d were carried out", n)
	}
	r := v.do(v.form("/pipelines/"+pipelineID+"/resume", url.Values{"csrf": {v.csrf()}, "message": {"try\r\nagain "}}))
	if r.path != "/pipelines/"+pipelineID || len(s.plane.pipelines.resumes) != 1 || s.plane.pipelines.resumes[0].Message != "try\nagain" || s.plane.pipelines.resumes[0].ID == "" {
		t.Errorf("%s %+v", r.path, s.plane.pipelines.resumes)
	}
	if r := v.do(v.form("/pipelines/"+pipelineID+"/cancel", url.Values{"csrf": {v.csrf()}})); r.path != "/pipelines/"+pipelineID || len(s.plane.pipelines.cancels) != 1 {
		t.Errorf("%s %+v", r.path, s.plane.pipelines.cancels)
	}
	s.plane.set(func() {
		s.plane.refusal = &api.Error{Failure: daemonapi.Failure{Code: "conflict", Error: "it is at its end"}}
	})
	if r := v.do(v.form("/pipelines/"+pipelineID+"/cancel", url.Values{"csrf": {v.csrf()}})); r.status != http.StatusConflict || !strings.Contains(r.body, "it is at its end") {
		t.Errorf("%d %s", r.status, r.body)
	}
}
