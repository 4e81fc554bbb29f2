package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
)

// noon is the time on the screens of these tests.
var noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) time.Time { return noon.Add(-d) }

// beginning is a window before the daemon has answered.
func beginning(width, height int) State {
	return after(State{}, Tick{noon}, Resize{width, height})
}

// after is a state after events, whatever is to be done then.
func after(s State, events ...any) State {
	for _, event := range events {
		s, _ = Next(s, event)
	}
	return s
}

// keys are key presses by their names.
func keys(names ...string) (events []any) {
	for _, name := range names {
		k := Key{Name: name}
		if len([]rune(name)) == 1 {
			k.Text = name
		}
		events = append(events, k)
	}
	return events
}

// typed are the keys of a text.
func typed(text string) []any { return keys(strings.Split(text, "")...) }

// busy is a window onto a day's work.
func busy(width, height int) State {
	return after(beginning(width, height), Up{someWorld()}, Surveyed{[]Project{
		{Root: "/home/ada/shop", Enforced: true},
		{Root: "/home/ada/blog", Why: "hooks are not installed", Hint: "stopgate hooks install"},
	}})
}

func someWorld() World {
	w := World{Owners: map[string]daemonapi.Owner{}, Spent: map[string]float64{}}
	w.Status.Pipelines = daemonapi.Counts{Running: 2, Waiting: 2, Queued: 1, Held: 1, Done: 812, Failed: 3}
	w.add(someOwners())
	for _, o := range w.Owners {
		if startedToday(&o, noon) {
			w.Spent[o.ID] = o.USD
		}
	}
	w.Sessions = []daemonapi.Session{
		{Session: "notes", Socket: "/tmp/tmux-1000/default", PID: 7, Pane: "%3", State: "asking", Since: before(40 * time.Second)},
		{Session: "scratch", Socket: "/tmp/tmux-1000/default", PID: 7, Pane: "%4", State: "busy", Since: before(2 * time.Minute)},
		{Session: "old", Socket: "/tmp/tmux-1000/default", PID: 7, Pane: "%5", State: "free", Since: before(26 * time.Hour)},
		{Session: "stopgate-writer-a1", Socket: "/state/tmux.sock", PID: 9, Pane: "%0", State: "busy", Since: before(time.Minute)},
	}
	w.Dead = []daemonapi.WorkItem{{ID: "dead000011112222", Project: "/home/ada/shop", Queue: "bugs", State: "dead", Error: "exit status 1: no such issue", Updated: before(3 * time.Hour)}}
	w.Stops = []daemonapi.GateRun{someStop("block"), someStop("allow")}
	return w
}

func someOwners() []daemonapi.Owner {
	ended := before(20 * time.Minute)
	return []daemonapi.Owner{
		{
			ID: "c84a2cdb00000001", Kind: "pipeline", Name: "release", Project: "/home/ada/shop", Step: "ask", Status: "waiting", Reason: "approval", Created: before(30 * time.Minute), USD: 1.5,
			Decision: someDecision(),
		},
		{
			ID: "da7ee9ad00000002", Kind: "pipeline", Name: "fix", Project: "/home/ada/shop", Step: "write", Status: "running", Created: before(12 * time.Minute), USD: 0.42, Tokens: 120_000,
			Agent: someAgent(),
		},
		{ID: "9f56223b00000003", Kind: "pipeline", Name: "nightly", Project: "/home/ada/blog", Step: "test", Status: "queued", Reason: "waits for deploy: da7ee9ad", Created: before(5 * time.Minute)},
		{ID: "64ea670e00000004", Kind: "pipeline", Name: "import", Project: "/home/ada/blog", Step: "load", Status: "held", Held: "event 17 cannot be read", Created: before(50 * time.Hour)},
		{ID: "b7ee9ad100000005", Kind: "pipeline", Name: "lint", Project: "/home/ada/shop", Step: "failed", Status: "failed", Reason: "exit status 3: oops", Created: before(40 * time.Minute), Ended: &ended, Duration: 95, USD: 0.03},
		{ID: "a5696618aaaaaaaa", Kind: "run", Name: "ask", Project: "/home/ada/shop", Step: "ask", Status: "running", Created: before(90 * time.Second), Agent: &daemonapi.Agent{ID: "ee9ad1b7-0000-4000-8000-000000000001", Name: "helper", Owner: "a5696618aaaaaaaa", Project: "/home/ada/shop", Status: "parked", Started: before(90 * time.Second)}},
		{ID: "0000000000000007", Kind: "pipeline", Name: "branch", Parent: "c84a2cdb00000001", Project: "/home/ada/shop", Step: "x", Status: "running", Created: before(time.Minute)},
	}
}

func someAgent() *daemonapi.Agent {
	return &daemonapi.Agent{
		ID: "1c29fa8a-0000-4000-8000-000000000001", Name: "writer", Owner: "da7ee9ad00000002", Project: "/home/ada/shop", Step: "write", Session: "5c3b9a77", OnStop: "signal",
		Status: "running", ClaudeCode: true, Ready: true, Started: before(11 * time.Minute), Terminal: &daemonapi.Terminal{Socket: "/state/tmux.sock", Session: "stopgate-writer-a1"}, USD: 0.42, Tokens: 120_000,
	}
}

func someDecision() *daemonapi.Decision {
	return &daemonapi.Decision{
		ID: "94fb6ca500000001", Owner: "c84a2cdb00000001", Name: "release", Project: "/home/ada/shop", Source: "approval_step", Step: "ask", Context: "Deploy to production?\nAll 214 tests passed on main.", Created: before(9 * time.Minute),
		Options: []daemonapi.Option{
			{Number: 1, Name: "approve", Description: "deploy now", Recommended: true},
			{Number: 2, Name: "reject", Description: "Fail the step"},
			{Number: 3, Name: "cancel", Description: "Cancel it"},
		},
	}
}

// wholeDecision is the decision with what helps to decide.
func wholeDecision() *daemonapi.Decision {
	d := someDecision()
	d.Details = &daemonapi.Details{
		LastMessage: "The release notes are in CHANGELOG.md. I bumped the version to 1.4.0.", Changes: []string{" M CHANGELOG.md | 12 +++"},
		Gates: []string{"lint: unused variable"}, USD: 1.5, Tokens: 340_000, Running: 1230,
	}
	return d
}

func wholeOwner() *daemonapi.Owner {
	o := someOwners()[1]
	done := before(11 * time.Minute)
	o.Steps = []daemonapi.Visit{
		{Step: "prepare", Outcome: "completed", Started: before(12 * time.Minute), Finished: &done},
		{Step: "write", Attempt: 2, Outcome: "running", Started: done, Agent: o.Agent.ID},
	}
	o.Children = []daemonapi.Child{{Name: "docs", Step: "write", ID: "7777aaaa00000001", Status: "failed", Reason: "exit status 1"}}
	return &o
}

func waitingOwner() *daemonapi.Owner {
	o := someOwners()[0]
	done := before(10 * time.Minute)
	o.Steps = []daemonapi.Visit{
		{Step: "build", Outcome: "completed", Started: before(30 * time.Minute), Finished: &done},
		{Step: "ask", Outcome: "waiting", Started: done},
	}
	return &o
}

func someMessages() []daemonapi.Message {
	return []daemonapi.Message{
		{Kind: "prompt", Text: "Fix the rounding of discounts."},
		{Kind: "words", Text: "The discount begins above 100, and should begin at 100."},
		{Kind: "tool", Text: "Edit cart.go"},
		{Kind: "failed", Text: "go test: exit status 1"},
		{Kind: "words", Text: "One more test fails.\nI look at it."},
	}
}

func someStop(decision string) daemonapi.GateRun {
	stop := daemonapi.GateRun{
		ID: "01STOP" + decision, Time: before(4 * time.Minute), Event: "Stop", Session: "5c3b9a77", Pane: "%4", Project: "/home/ada/shop", Decision: decision, Result: "blocked", Headline: "Blocked: test failed", DurationMS: 8300,
		Trees: []daemonapi.GateTree{{Root: "/home/ada/shop", Status: "failed", Gates: []daemonapi.Gate{
			{Job: "lint", Outcome: "proven"},
			{Job: "test", Outcome: "failed", Why: "exit status 1: TestTotal", DurationMS: 8123, Log: "/state/logs/test.log"},
		}}},
	}
	if decision == "allow" {
		stop.Time, stop.Result, stop.Headline = before(2*time.Hour), "allowed", "Allowed: 2 gates passed, 1 of them earlier for exactly this content"
		stop.Trees[0].Status = "passed"
		stop.Trees[0].Gates[1] = daemonapi.Gate{Job: "test", Outcome: "passed", DurationMS: 8000}
	}
	return stop
}

// many is a world with that many sessions and pipelines, as the source asks for it.
func many(n int) World {
	w := World{Owners: map[string]daemonapi.Owner{}, Spent: map[string]float64{}}
	for i := range min(n, maxLive) {
		id := fmt.Sprintf("%016x", i)
		w.Owners[id] = daemonapi.Owner{ID: id, Kind: "pipeline", Name: "fix", Project: "/home/ada/shop", Step: "write", Status: "running", Created: before(time.Duration(i) * time.Second)}
	}
	for i := range min(n, maxSessions) {
		w.Sessions = append(w.Sessions, daemonapi.Session{Session: fmt.Sprint("s", i), Pane: fmt.Sprint("%", i), State: "free", Since: before(time.Hour)})
	}
	return w
}
