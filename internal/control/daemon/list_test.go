package daemon

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/api"
	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// planeOf is a plane without a daemon around it.
func planeOf(t testing.TB, c *core) *plane {
	return &plane{core: c, growth: &growth{}, queued: func(string) bool { return false }, opts: Options{StateDir: t.TempDir(), Log: quiet(), Now: time.Now}}
}

func agentsNow(t *testing.T, p *plane) []daemonapi.Agent {
	t.Helper()
	page, err := p.Agents(t.Context(), &api.Query{Limit: 100})
	check(t, err)
	return page.Items
}

func decisionsNow(t *testing.T, p *plane, settled bool) []daemonapi.Decision {
	t.Helper()
	page, err := p.Decisions(t.Context(), &api.Query{Limit: 100, Past: settled})
	check(t, err)
	return page.Items
}

// createdAt is an owner of a project that was created so many hours after noon.
func createdAt(t *testing.T, c *core, n, hours int, plan runbook.Plan, change func(*engine.Create)) {
	t.Helper()
	in := create(newID(n), plan)
	what := in.What.(engine.Create)
	change(&what)
	in.What, in.Time = what, noon.Add(time.Duration(hours)*time.Hour)
	do(t, c, newID(n), in)
}

func asIs(*engine.Create) {}

// read reads a list in pages of a size. After each page something happens.
func read[T any](t *testing.T, ask func(q *api.Query) (api.Page[T], error), size int, id func(T) string, meanwhile func()) (seen []string) {
	t.Helper()
	for q := (api.Query{Limit: size, Past: true}); ; {
		page, err := ask(&q)
		check(t, err)
		if len(page.Items) > size {
			t.Fatalf("%d on a page of %d", len(page.Items), size)
		}
		for _, item := range page.Items {
			seen = append(seen, id(item))
		}
		if page.Next == (api.Place{}) {
			return seen
		}
		q.After = page.Next
		meanwhile()
	}
}

func ownerID(o daemonapi.Owner) string { return o.ID }

// A list that is read in pages has each owner once, the newest first, also when new ones come and old
// ones are pruned meanwhile.
func TestPagesOfOwners(t *testing.T) {
	c := testCore(newMemory(t))
	p := planeOf(t, c)
	var want []string
	for n := range 20 {
		createdAt(t, c, n, n/2, shellPlan("one"), asIs) // two of each time
	}
	for hour := 9; hour >= 0; hour-- {
		want = append(want, newID(2*hour), newID(2*hour+1))
	}
	ask := func(q *api.Query) (api.Page[daemonapi.Owner], error) { return p.Owners(t.Context(), q) }
	for _, size := range []int{1, 3, 19, 20, 21} {
		if got := read(t, ask, size, ownerID, func() {}); !slices.Equal(got, want) {
			t.Errorf("pages of %d: %v", size, got)
		}
	}

	more := 100
	got := read(t, ask, 3, ownerID, func() {
		createdAt(t, c, more, more, shellPlan("one"), asIs)
		more++
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, id := range []string{want[2], want[18], want[19]} { // where the first page ended, and the oldest
			c.state.Put(&engine.Owner{ID: id, Deleted: true})
		}
	})
	if !slices.Equal(got, want[:18]) {
		t.Errorf("while others come and go: %v, want %v", got, want[:18])
	}
}

func TestFiltersOfOwners(t *testing.T) {
	c := testCore(newMemory(t))
	p := planeOf(t, c)
	createdAt(t, c, 1, 1, shellPlan("one"), func(w *engine.Create) { w.Project = "/other" })
	createdAt(t, c, 2, 2, shellPlan("one"), func(w *engine.Create) { w.Name, w.Command = "deploy", "ship" })
	createdAt(t, c, 3, 3, shellPlan("one"), func(w *engine.Create) { w.Kind = engine.AgentRun })
	createdAt(t, c, 4, 4, shellPlan("one"), asIs)
	do(t, c, newID(4), engine.Input{ID: "cancel", Time: noon.Add(5 * time.Hour), What: engine.Cancel{Why: "enough"}})
	createdAt(t, c, 5, 5, shellPlan("one"), asIs)
	c.hold("pipeline."+newID(5), "an event was changed")
	c.hold("pipeline."+newID(9), "all are missing")

	for name, test := range map[string]struct {
		q    api.Query
		want string
	}{
		"all":         {api.Query{}, "9 5 4 3 2 1"},
		"kind":        {api.Query{Kind: "pipeline"}, "9 5 4 2 1"},
		"project":     {api.Query{Project: "/other"}, "1"},
		"name":        {api.Query{Name: "deploy"}, "2"},
		"command":     {api.Query{Command: "ship"}, "2"},
		"status":      {api.Query{Status: []string{"cancelled"}}, "4"},
		"statuses":    {api.Query{Status: []string{"running", "held"}}, "9 5 3 2 1"},
		"held":        {api.Query{Status: []string{"held"}}, "9 5"},
		"since":       {api.Query{Since: noon.Add(3 * time.Hour), Kind: "pipeline", Project: "/p"}, "5 4"},
		"until":       {api.Query{Until: noon.Add(3 * time.Hour), Project: "/p"}, "2"},
		"nothing":     {api.Query{Project: "/nowhere"}, ""},
		"behind held": {api.Query{After: api.Place{Time: time.Unix(1<<48, 0), ID: newID(9)}}, "5 4 3 2 1"},
	} {
		test.q.Limit = 50
		page, err := p.Owners(t.Context(), &test.q)
		check(t, err)
		var got []string
		for _, o := range page.Items {
			got = append(got, strings.TrimLeft(o.ID, "0"))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}

	ended, err := p.Owner(t.Context(), newID(4))
	check(t, err)
	if ended.Ended == nil || ended.Duration != 3600 || ended.Reason != "enough" {
		t.Errorf("at its end: %+v", ended)
	}
}

// Agents that have ended are listed as well where they are asked for, with what is known of them.
func TestAgentsOfThePast(t *testing.T) {
	c := testCore(newMemory(t))
	p := planeOf(t, c)
	plan := agentPlan(runbook.Action{})
	plan.Pipeline.Steps[0].OnDone = "again"
	plan.Pipeline.Steps = append(plan.Pipeline.Steps, runbook.Step{Name: "again", Run: runbook.Run{Agent: "coder"}})
	var want []string
	for n := range 4 {
		createdAt(t, c, n, n, plan, asIs)
		first := c.owner(newID(n)).Agent.ID
		want = append([]string{first}, want...)
		do(t, c, newID(n), engine.Input{ID: "signal", Time: noon.Add(time.Duration(n)*time.Hour + time.Minute), What: engine.AgentSignal{AgentID: first, Signal: engine.Signal{Kind: engine.SignalComplete}}})
		do(t, c, newID(n), engine.Input{ID: "exit", Time: noon.Add(time.Duration(n)*time.Hour + 2*time.Minute), What: engine.AgentExited{AgentID: first}})
		if now := c.owner(newID(n)).Agent; now != nil && now.ID != first {
			want = append([]string{now.ID}, want...)
		}
	}
	if len(want) != 8 {
		t.Fatalf("there are %d agents", len(want))
	}
	ask := func(q *api.Query) (api.Page[daemonapi.Agent], error) { return p.Agents(t.Context(), q) }
	id := func(a daemonapi.Agent) string { return a.ID }
	for _, size := range []int{1, 3, 8, 50} {
		if got := read(t, ask, size, id, func() {}); !slices.Equal(got, want) {
			t.Errorf("pages of %d: %v, want %v", size, got, want)
		}
	}
	if now := agentsNow(t, p); len(now) != 4 || slices.ContainsFunc(now, func(a daemonapi.Agent) bool { return a.Step != "again" }) {
		t.Errorf("now: %+v", now)
	}

	for name, test := range map[string]struct {
		q    api.Query
		want int
	}{
		"exited":  {api.Query{Status: []string{"exited"}, Past: true}, 4},
		"running": {api.Query{Status: []string{"running"}, Past: true}, 4},
		"owner":   {api.Query{Owner: newID(2), Past: true}, 2},
		"nobody":  {api.Query{Owner: newID(77), Past: true}, 0},
		"project": {api.Query{Project: "/elsewhere", Past: true}, 0},
		"name":    {api.Query{Name: "coder", Past: true}, 8},
		"since":   {api.Query{Since: noon.Add(3 * time.Hour), Past: true}, 2},
	} {
		test.q.Limit = 50
		page, err := p.Agents(t.Context(), &test.q)
		check(t, err)
		if len(page.Items) != test.want {
			t.Errorf("%s: %d agents, want %d", name, len(page.Items), test.want)
		}
		for _, a := range page.Items {
			if a.Name != "coder" || a.Project != "/p" || (a.Status == "exited") != (a.Ended != nil) {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
}
