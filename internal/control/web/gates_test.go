package web

import (
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/control/workspace"
	"github.com/stopgate/stopgate/internal/record/event"
)

// judged writes a stop into the journal, as a hook does: its gates are "job outcome milliseconds" each.
func (s *scene) judged(root, tree string, ago time.Duration, gates ...string) {
	s.t.Helper()
	t := event.Tree{Root: root, Tree: tree, Approval: "a", Status: "passed"}
	decision, verdict := "allow", event.Verdict{Keeper: "gates", Outcome: "passed", Status: "passed"}
	for _, text := range gates {
		g := event.Gate{}
		fields := strings.Split(text, "|")
		g.Job, g.Outcome = fields[0], fields[1]
		if len(fields) > 2 {
			_, err := fmt.Sscan(fields[2], &g.DurationMS)
			check(s.t, err)
		}
		if g.Outcome == event.GateFailed {
			decision, verdict = "block", event.Verdict{Keeper: "gates", Outcome: "failed", Status: "failed", Blocked: true, Message: "it failed"}
		}
		t.Gates = append(t.Gates, g)
	}
	s.answered(event.Record{Project: root, Decision: decision, Verdicts: []event.Verdict{verdict}, Trees: []event.Tree{t}, Time: s.clock().Add(-ago)})
}

// answered writes the answer to a stop into the journal.
func (s *scene) answered(r event.Record) {
	s.t.Helper()
	if r.Session == "" {
		r.Session = "session-1"
	}
	s.record(r)
}

func before(t *testing.T, page, first, second string) {
	t.Helper()
	list := page[strings.Index(page, `class="gate-row titles"`):]
	if a, b := strings.Index(list, first), strings.Index(list, second); a < 0 || b < 0 || a > b {
		t.Errorf("%q is not before %q (%d, %d)", first, second, a, b)
	}
}

// The page says which gate is the flakiest, and how each did over the time that is asked for.
func TestIssue18GatesAreCounted(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	contains(t, v.get("/gates").body, "No gate was asked yet.", "stopgate init")
	day := 24 * time.Hour
	s.judged("/home/me/shop", "A", 20*day, "check:.:unit|failed|9000")
	s.judged("/home/me/shop", "B", 3*day, "check:.:unit|passed|4000", "check:web:e2e|failed|60000")
	s.judged("/home/me/shop", "B", 2*day, "check:.:unit|proven", "check:web:e2e|passed|60000")
	s.judged("/home/me/blog", "C", time.Hour, "check:.:links|failed|500")
	page := v.get("/gates").body
	contains(t, page, `Flakiest: <a href="/gates?gate=check%3Aweb%3Ae2e&amp;project=%2Fhome%2Fme%2Fshop&amp;since=7d">e2e in web</a> in shop.`,
		"another answer for the same content 1 time.", "answered from proofs", "4.0 s", "in minutes", "As a table", `<option value="/home/me/blog"`)
	before(t, page, "e2e in web", ">links<")
	before(t, page, ">links<", ">unit<") // it is failing
	if n, all := strings.Count(page, "1 of 2"), strings.Count(v.get("/gates?since=30d").body, "1 of 2"); n != 1 || all != 2 {
		t.Errorf("with a run of three weeks ago: %d, %d", n, all)
	}
	page = v.get("/gates?since=24h").body
	contains(t, page, "No gate is flaky", ">links<")
	if strings.Contains(page, ">unit<") {
		t.Error("a run of two days ago counts")
	}
	contains(t, v.get("/gates?project=/home/me/none").body, "No gate was asked in that time.")
	page = v.get("/gates?gate=check:web:e2e&project=/home/me/shop").body
	contains(t, page, "<h1>e2e in web</h1>", "Typical duration, in seconds", "Flaky:")
	if strings.Contains(page, "unit<") {
		t.Error("another gate stands on the page of one")
	}
}

// What charts draw is JSON in an attribute, and the same is a table.
func TestIssue18ChartsHaveATable(t *testing.T) {
	s := newScene(t)
	s.judged("/home/me/shop", "A", time.Hour, "check:.:unit|failed|9000", "check:.:lint|passed|10")
	page := s.signedIn().get("/gates?since=24h").body
	_, rest, _ := strings.Cut(page, `data-chart="`)
	text, _, _ := strings.Cut(rest, `"`)
	var data chartData
	check(t, json.Unmarshal([]byte(html.UnescapeString(text)), &data))
	if data.Kind != "bars" || len(data.X) != 24 || len(data.Values) != 3 || *data.Values[0][22]+*data.Values[0][21] != 1 || *data.Values[1][22]+*data.Values[1][21] != 1 {
		t.Errorf("%s", text)
	}
	contains(t, page, "<td>1</td><td>1</td><td></td>")
}

// More is read as it is written, also after a restart of the journal.
func TestIssue18GatesGoOnWithTheJournal(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	for i := range 3 {
		s.judged("/home/me/shop", fmt.Sprint(i), time.Hour, "check:.:unit|passed|10")
		contains(t, v.get("/gates").body, fmt.Sprintf("%d of %[1]d", i+1))
	}
}

func (p *fakePlane) Workspaced() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workspaced
}

// Gates that ran in a workspace are those of the project that it was made for.
func TestIssue18GatesOfWorkspacesAreTheProjects(t *testing.T) {
	s := newScene(t)
	all := workspace.Root(s.state)
	s.plane.set(func() {
		s.plane.workspaced = map[string]string{filepath.Join(all, "fix-1"): "/home/me/shop", filepath.Join(all, "fix-2"): "/home/me/shop"}
	})
	s.judged(filepath.Join(all, "fix-1"), "A", time.Hour, "check:.:unit|passed|10")
	s.judged(filepath.Join(all, "fix-2", "sub"), "B", time.Hour, "check:.:unit|passed|10")
	s.judged(filepath.Join(all, "removed"), "C", time.Hour, "check:.:unit|passed|10")
	page := s.signedIn().get("/gates").body
	contains(t, page, "2 of 2", "<small>shop ", "1 of 1", "<small>workspaces ")
	if strings.Contains(page, "fix-") {
		t.Error("a workspace is listed")
	}
}

func TestIssue18GatesPageIsBounded(t *testing.T) {
	s := newScene(t)
	var gates []string
	for i := range 3000 {
		gates = append(gates, fmt.Sprintf("check:.:gate-%d|passed|10", i))
	}
	s.judged("/home/me/shop", "A", time.Hour, append(gates, "check:.:bad|failed|1")...)
	page := s.signedIn().get("/gates").body
	contains(t, page, "2941 more gates", ">bad<")
	if len(page) > 150_000 {
		t.Errorf("%d bytes", len(page))
	}
}

func TestIssue18GatesPageShowsHostileTextHarmless(t *testing.T) {
	s := newScene(t)
	job := strings.ReplaceAll(hostile, "|", "")
	s.judged("/"+hostile, hostile, time.Hour, job+"|passed|10", "check:"+job+":"+job+"|failed|9223372036854775807", "x|"+job)
	s.judged("/"+hostile, hostile, time.Hour, job+"|failed|-5")
	v := s.signedIn()
	harmless(t, v.get("/gates").body)
	harmless(t, v.get("/gates?gate="+"%3Cscript%3Ealert(1)%3C/script%3E&project=%22%3E%3Cimg%20src=x&since=zzz").body)
}
