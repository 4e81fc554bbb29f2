package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// many puts sessions into the journal, and all of them were blocked.
func many(t testing.TB, stateDir string, n int) {
	t.Helper()
	j := journal.New(filepath.Join(stateDir, "journal"), journal.Limits{})
	for i := range n {
		_, err := j.Append(&event.Record{
			Call: journal.NewID(), Kind: event.Answered, Event: "Stop", Decision: "block", Session: fmt.Sprintf("session-%05d", i), Project: "/src/shop",
			Time: time.Now().Add(-time.Duration(n-i) * time.Second), Verdicts: []event.Verdict{{Keeper: "gates", Outcome: "failed", Blocked: true, Message: "test failed"}},
			Trees: []event.Tree{{Root: "/src/shop", Status: "failed", Gates: []event.Gate{{Job: "check:.:test", Outcome: "failed"}}}},
		})
		check(t, err)
	}
}

// A session is in the state that its last hook means, and what was added to the journal is heard.
func TestIssue18TheRosterHearsHooks(t *testing.T) {
	dir := t.TempDir()
	j := journal.New(filepath.Join(dir, "journal"), journal.Limits{})
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	r := newRoster(dir)
	for _, step := range []struct {
		event.Record
		want string
	}{
		{event.Record{Kind: event.Received, Event: "SessionStart"}, "stopped"},
		{event.Record{Kind: event.Received, Event: "UserPromptSubmit"}, "busy"},
		{event.Record{Kind: event.Received, Event: "Stop"}, "busy"},
		{event.Record{Kind: event.Answered, Event: "Stop", Decision: "block", Verdicts: []event.Verdict{{Keeper: "gates", Blocked: true, Message: "no"}}}, "blocked"},
		{event.Record{Kind: event.Received, Event: "Notification", Enums: event.Enums{NotificationType: "permission_prompt"}}, "asking"},
		{event.Record{Kind: event.Received, Event: "SubagentStop", Agent: event.SubagentRef{ID: "a"}}, "asking"},
		{event.Record{Kind: event.Received, Event: "PreToolUse"}, "busy"},
		{event.Record{Kind: event.Answered, Event: "Stop", Decision: "allow", Verdicts: []event.Verdict{{Keeper: "gates", Message: "ok"}}}, "stopped"},
		{event.Record{Kind: event.Received, Event: "StopFailure"}, "failed"},
		{event.Record{Kind: event.Received, Event: "SessionEnd"}, "ended"},
	} {
		at = at.Add(time.Second)
		step.Session, step.Call, step.Time = "s", journal.NewID(), at
		_, err := j.Append(&step.Record)
		check(t, err)
		all, err := r.refresh().All()
		check(t, err)
		if len(all) != 1 || all[0].State != step.want {
			t.Fatalf("after %s: %+v", step.Event, all)
		}
	}
	heard, err := r.All()
	check(t, err)
	read, err := newRoster(dir).refresh().All() // which reads backwards
	check(t, err)
	if diff := cmp.Diff(heard, read); diff != "" {
		t.Error(diff)
	}
	if heard[0].Stops != 2 || heard[0].Blocks != 1 || heard[0].Last.Decision != "allow" {
		t.Errorf("%+v", heard[0])
	}
}

// A second call for one stop, which gives the first one's answer, counts for nothing, and a stop of a
// subagent is none of the session's.
func TestIssue18TheRosterCountsAStopOnce(t *testing.T) {
	dir := t.TempDir()
	j := journal.New(filepath.Join(dir, "journal"), journal.Limits{})
	blocked := event.Verdict{Keeper: "gates", Outcome: "failed", Blocked: true, Message: "no", Cost: event.Cost{USD: 1}}
	adopted := blocked
	adopted.Keeper, adopted.Status = "chain", "adopted"
	for i, rec := range []event.Record{
		{Call: "first", Event: "Stop", Verdicts: []event.Verdict{blocked}},
		{Call: "second", Event: "Stop", Verdicts: []event.Verdict{adopted}},
		{Call: "subagent", Event: "SubagentStop", Agent: event.SubagentRef{ID: "a"}, Verdicts: []event.Verdict{blocked}},
	} {
		rec.Kind, rec.Decision, rec.Session, rec.Time = event.Answered, "block", "s", time.Now().Add(time.Duration(i)*time.Second)
		_, err := j.Append(&rec)
		check(t, err)
	}
	s, _, err := newRoster(dir).refresh().Find("s")
	check(t, err)
	if s.Stops != 1 || s.Blocks != 1 || s.Last.Call != "first" || s.USD != 2 {
		t.Errorf("%+v", s)
	}
}

// Where the journal was replaced by another one, the roster is of that one alone.
func TestIssue18TheRosterReadsAnotherJournalAnew(t *testing.T) {
	dir := t.TempDir()
	many(t, dir, 5)
	r := newRoster(dir)
	r.refresh()
	check(t, os.RemoveAll(filepath.Join(dir, "journal")))
	many(t, dir, 2)
	all, err := r.refresh().All()
	check(t, err)
	_, n, err := r.First(9, "blocked")
	check(t, err)
	if len(all) != 2 || n != 2 || all[0].Stops != 1 || all[1].Stops != 1 {
		t.Errorf("%d, %+v", n, all)
	}
}

// First are the newest of all.
func TestIssue18TheRosterFindsTheFirst(t *testing.T) {
	dir := t.TempDir()
	many(t, dir, 200)
	r := newRoster(dir)
	all, err := r.refresh().All()
	check(t, err)
	first, n, err := r.First(7, "blocked", "busy")
	check(t, err)
	if diff := cmp.Diff(all[:7], first); diff != "" || n != 200 {
		t.Errorf("%d, %s", n, diff)
	}
	if none, n, err := r.First(7, "asking"); err != nil || n != 0 || none != nil {
		t.Errorf("%v, %d, %v", none, n, err)
	}
}

// A page has as many bytes with 2,000 sessions as with 20.
func TestIssue18PagesDoNotGrow(t *testing.T) {
	sizes := map[int]int{}
	for _, n := range []int{20, 2000} {
		s := newScene(t)
		many(t, s.state, n)
		r := s.signedIn().get("/")
		if !strings.Contains(r.body, "blocked") {
			t.Fatal(r.body)
		}
		sizes[n] = len(r.body)
	}
	if sizes[2000] > 2*sizes[20] {
		t.Errorf("%v bytes", sizes)
	}
}

// BenchmarkRoster is what the page Now asks of the roster, by how many sessions there are.
func BenchmarkRoster(b *testing.B) {
	for _, n := range []int{20, 2000} {
		dir := b.TempDir()
		many(b, dir, n)
		r := newRoster(dir).refresh()
		b.Run(fmt.Sprint("refresh/", n), func(b *testing.B) {
			for b.Loop() {
				r.refresh()
			}
		})
		b.Run(fmt.Sprint("first/", n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := r.First(fewNow, "blocked"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
