package daemon

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/control/engine"
	"github.com/stopgate/stopgate/internal/control/runbook"
)

// Each step of a pipeline has the state of its newest visit.
func TestGraphOfAPipeline(t *testing.T) {
	c := testCore(newMemory(t))
	p := planeOf(t, c)
	plan := shellPlan("one", "two", "three")
	plan.Pipeline.Steps[1].If = "'a' == 'b'"
	plan.Pipeline.Steps[2].OnFail = "</g>"
	plan.Pipeline.Steps = append(plan.Pipeline.Steps, runbook.Step{Name: "</g>", Run: runbook.Run{Shell: "echo <b>"}})
	do(t, c, anID, create(anID, plan))
	states := func() (all string) {
		t.Helper()
		g, err := p.Graph(t.Context(), anID[:6])
		check(t, err)
		if g.Name != "build" || len(g.Edges) != 5 {
			t.Errorf("%+v", g)
		}
		for _, n := range g.Nodes {
			all += n.Name + "=" + n.State + " "
			if n.Current {
				all += "* "
			}
		}
		return all
	}
	want := func(want string) {
		t.Helper()
		if got := states(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	exit := func(code int) {
		t.Helper()
		done(t, c, anID)
		key := c.owner(anID).Shell.Key
		do(t, c, anID, engine.Input{ID: "exit:" + key, What: engine.ShellExited{Key: key, Code: code}})
	}
	want("one=running * two=not_reached three=not_reached </g>=not_reached ")
	exit(0)
	want("one=done two=skipped three=running * </g>=not_reached ")
	exit(1)
	want("one=done two=skipped three=failed </g>=running * ")

	picture, err := p.Picture(t.Context(), anID)
	check(t, err)
	for _, part := range []string{`class="step state-done"`, `class="step state-failed"`, `class="step state-running"`, `.state-failed rect`} {
		if !strings.Contains(string(picture), part) {
			t.Errorf("no %s", part)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(string(picture))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
