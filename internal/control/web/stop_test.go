package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// record puts a record into the journal, and returns the id of its call.
func (s *scene) record(r event.Record) string {
	s.t.Helper()
	if r.Call == "" {
		r.Call = journal.NewID()
	}
	if r.Kind == "" {
		r.Kind = event.Answered
	}
	if r.Event == "" {
		r.Event = "Stop"
	}
	if r.Time.IsZero() {
		r.Time = s.clock()
	}
	_, err := s.site.roster.journal.Append(&r)
	check(s.t, err)
	return r.Call
}

// keptLog is a log that is kept, with what a review found.
func (s *scene) keptLog(name, text string, found ...review.Violation) string {
	s.t.Helper()
	path := filepath.Join(kept.Dir(s.state), "project", name+".log")
	check(s.t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(s.t, os.WriteFile(path, []byte(text), 0o600))
	if found != nil {
		check(s.t, os.WriteFile(kept.FindingsOf(path), review.File{Status: review.Fail, Violations: found}.Encode(), 0o600))
	}
	return path
}

// blockedStop is a stop that a check and a review have blocked.
func (s *scene) blockedStop(session string) event.Record {
	return event.Record{
		Session: session, Project: "/home/me/shop", Decision: "block", DurationMS: 45_900,
		Verdicts: []event.Verdict{
			{Keeper: "guard", Outcome: "passed", Status: "passed", DurationMS: 12},
			{Keeper: "gates", Outcome: "failed", Status: "failed", Blocked: true, Message: "2 of 5 gates failed", DurationMS: 45_000, Cost: event.Cost{USD: 0.08}},
		},
		Trees: []event.Tree{{
			Root: "/home/me/shop", Tree: "4968beecfc9f11aa", Approval: "dd064e4109ae22bb", Status: "failed", More: 3,
			Gates: []event.Gate{
				{Job: "check:.:test", Outcome: event.GatePassed, DurationMS: 3400},
				{Job: "check:.:lint", Outcome: event.GateFailed, Why: "Exited with code 1", DurationMS: 1200, Log: s.keptLog("lint", "cart.sh: line 3\n\tcart.sh:3: unused variable\n")},
				{Job: "review:src:quality", Outcome: event.GateFailed, Why: "1 violation", DurationMS: 41_000, Cost: event.Cost{USD: 0.08}, Log: s.keptLog("quality", "raw", review.Violation{
					ID: "a", File: "src/login.sh", Line: "3", Issue: "a password in the code", Fix: "read it from the environment", Priority: "high", Status: review.New,
				})},
				{Job: "check:.:vet", Outcome: event.GateProven, Why: "unchanged since it passed on 2026-11-17 10:00"},
				{Job: "check:docs:links", Outcome: event.GateSkipped, Why: "nothing that it checks has changed"},
			},
		}},
	}
}

func TestIssue18StopPageSaysWhy(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	call := s.record(s.blockedStop("8f3c2a10-1111"))
	r := v.get("/stops/" + call)
	if r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	wants(
		t, r.body, "<h1>Blocked: lint and review quality in src failed</h1>", "stopgate check --gate lint", "stopgate violations list", "cart.sh:3: unused variable",
		"src/login.sh:3", "a password in the code", "read it from the environment", "answered from a proof: unchanged since", "links in docs", "nothing that it checks has changed", "and 3 more",
		"4968beecfc9f", "dd064e4109ae", "the agent waited 45 s", "$0.08", `href="/sessions/8f3c2a10-1111"`, "stopgate why --call "+call, "blocked the stop",
	)

	call = s.record(event.Record{Session: "8f3c2a10-1111", Project: "/home/me/shop", Decision: "allow", Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "passed", Status: "passed"}}, Trees: []event.Tree{{
		Root: "/home/me/shop", Status: "passed", Gates: []event.Gate{{Job: "check:.:vet", Outcome: event.GateProven}},
	}}})
	wants(t, v.get("/stops/"+call).body, "<h1>Allowed: 1 gate passed earlier for exactly this content</h1>")

	call = s.record(event.Record{Kind: event.Received, Session: "8f3c2a10-1111", Project: "/home/me/shop"})
	wants(t, v.get("/stops/"+call).body, "<h1>No answer: the hook is still running")
	s.record(event.Record{Call: call, Session: "8f3c2a10-1111", Project: "/home/me/shop", Decision: "allow"})
	wants(t, v.get("/stops/"+call).body, "<h1>Allowed")
}

func TestIssue18StopPageThatIsNotThere(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	tool := s.record(event.Record{Event: "PreToolUse", Session: "s"})
	for _, id := range []string{journal.NewID(), tool, "01K8ZQ", "x", strings.Repeat("A", 26), strings.Repeat("A", 3000), "%00", "..%2f..%2fetc", "%3Cscript%3E"} {
		if r := v.get("/stops/" + id); r.status != http.StatusNotFound {
			t.Errorf("%.40s: %d", id, r.status)
		}
	}
}

// hostileStop has hostile words in every field that there is.
func (s *scene) hostileStop(session string) event.Record {
	log := s.keptLog("hostile", hostile, review.Violation{ID: "h", File: hostile, Line: review.Line(hostile), Issue: hostile, Fix: hostile, Priority: hostile2, Status: review.New, Result: hostile})
	plainLog := s.keptLog("hostile2", strings.Repeat(hostile+"\n", 100))
	gates := []event.Gate{
		{Job: "review:" + hostile + ":" + hostile, Outcome: event.GateFailed, Why: hostile, Log: log},
		{Job: "check:" + hostile + ":" + hostile, Outcome: event.GateFailed, Why: hostile, Log: plainLog},
		{Job: hostile, Outcome: event.GateCouldNotRun, Why: hostile, Log: "/etc/passwd"},
		{Job: hostile, Outcome: event.GateSkipped, Why: hostile},
		{Job: hostile, Outcome: event.GateProven, Why: hostile},
		{Job: hostile, Outcome: hostile},
	}
	return event.Record{
		Session: session, Project: hostile, Prompt: hostile, Agent: event.SubagentRef{ID: hostile, Type: hostile}, Pane: hostile, Decision: "block",
		Verdicts: []event.Verdict{{Keeper: hostile, Outcome: hostile, Status: hostile, Message: hostile}, {Keeper: "protect", Blocked: true, Outcome: "failed", Status: hostile, Message: hostile}},
		Trees:    []event.Tree{{Root: hostile, Tree: hostile, Approval: hostile, Status: hostile, Why: hostile, Gates: gates}},
		Effects:  []string{hostile},
	}
}

const hostile2 = "high" // of what has few values

func TestIssue18StopPageIsHarmless(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	call := s.record(s.hostileStop(hostile))
	r := v.get("/stops/" + call)
	if r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.body)
	}
	harmless(t, r.body)
	if strings.Contains(r.body, "root:") {
		t.Error("it shows a file that is not a log")
	}
}

// However much there is in a record, a page of it has a bound.
func TestIssue18StopPageIsBounded(t *testing.T) {
	s := newScene(t)
	v := s.signedIn()
	rec := event.Record{Session: "s", Project: "/p", Decision: "block", Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "failed", Blocked: true, Message: strings.Repeat("long ", 20_000)}}}
	for i := range 30 {
		tree := event.Tree{Root: fmt.Sprintf("/p/%d", i), Status: "failed"}
		for k := range 300 {
			tree.Gates = append(tree.Gates, event.Gate{Job: fmt.Sprintf("check:.:gate%d", k), Outcome: event.GatePassed})
		}
		rec.Trees = append(rec.Trees, tree)
	}
	rec.Trees[0].Gates[0] = event.Gate{Job: "check:.:g", Outcome: event.GateFailed, Log: s.keptLog("big", strings.Repeat(strings.Repeat("x", 100_000)+"\n", 50))}
	r := v.get("/stops/" + s.record(rec))
	if r.status != http.StatusOK || len(r.body) > 1<<20 {
		t.Errorf("%d, %d bytes", r.status, len(r.body))
	}
	wants(t, r.body, "and 240 more gates", "and 10 more working trees")
}

func wants(t *testing.T, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%q is not there", text)
		}
	}
}
