//go:build unix

package web

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/kept"
	"github.com/stopgate/stopgate/internal/gate/gauntlet/review"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// told is a session that was blocked twice and then allowed, with all that there is to show of it.
const toldSession = "2b7e1c54-0000-4000-8000-000000000009"

// The calls of its stops.
var (
	lintStop   = journal.NewID()
	reviewStop = journal.NewID()
	greenStop  = journal.NewID()
)

// story puts the session on the stage.
func (s *stage) story() {
	s.t.Helper()
	at := func(minutes int) time.Time { return time.Now().Add(-time.Duration(minutes) * time.Minute) }
	gate := func(job, outcome, why string, ms int64, log string) event.Gate {
		return event.Gate{Job: job, Outcome: outcome, Why: why, DurationMS: ms, Log: log}
	}
	proof := "unchanged since it passed on 2026-11-17 10:04"
	skipped := []event.Gate{
		gate("check:docs:links", event.GateSkipped, "nothing that it checks has changed", 0, ""), gate("check:web:build", event.GateSkipped, "nothing that it checks has changed", 0, ""),
		gate("check:.:e2e", event.GateSkipped, "does not run here: run_locally is false", 0, ""),
	}
	stop := func(call, decision, status string, minutes int, ms int64, cost float64, gates ...event.Gate) event.Record {
		return event.Record{
			Call: call, Session: toldSession, Project: s.root, Kind: event.Answered, Event: "Stop", Decision: decision, Time: at(minutes), DurationMS: ms,
			Verdicts: []event.Verdict{
				{Keeper: "guard", Outcome: "passed", Status: "passed", DurationMS: 14},
				{Keeper: "gates", Outcome: status, Status: status, Blocked: decision == "block", DurationMS: ms - 20, Cost: event.Cost{USD: cost}},
			},
			Trees: []event.Tree{{Root: s.root, Tree: fmt.Sprintf("4968beec%02x9f11aa", minutes), Approval: "dd064e4109ae22bb7c", Status: status, Gates: append(gates, skipped...)}},
		}
	}
	event1 := func(name string, minutes int) event.Record {
		return event.Record{Call: journal.NewID(), Session: toldSession, Project: s.root, Kind: event.Answered, Event: name, Decision: "allow", Time: at(minutes)}
	}
	found := gate("review:src:quality", event.GateFailed, "2 violations", 38_400, s.log("quality", "raw", []review.Violation{
		{ID: "a1", File: "src/login.sh", Line: "3", Issue: "The password is in the code, so everyone who can read the repository has it.", Fix: "Read it from the environment.", Priority: "critical", Status: review.New},
		{ID: "b2", File: "src/login.sh", Line: "4-6", Issue: "A wrong password leaves no trace, so that trying many goes unnoticed.", Priority: "medium", Status: review.New},
	}))
	found.Cost.USD = 0.0825
	passed := gate("review:src:quality", event.GatePassed, "2 closed", 29_100, "")
	passed.Cost.USD = 0.0611
	for _, r := range []event.Record{
		event1("SessionStart", 58), event1("UserPromptSubmit", 57),
		stop(lintStop, "block", "failed", 41, 7_300, 0,
			gate("check:.:test", event.GatePassed, "", 5_200, ""), gate("check:.:lint", event.GateFailed, "Exited with code 1", 1_240, s.log("lint", lintOutput, nil)), gate("check:.:vet", event.GateProven, proof, 0, "")),
		stop(reviewStop, "block", "failed", 30, 45_900, 0.0825,
			gate("check:.:test", event.GatePassed, "", 5_100, ""), gate("check:.:lint", event.GatePassed, "", 1_190, ""), found, gate("check:.:vet", event.GateProven, proof, 0, "")),
		event1("UserPromptSubmit", 20),
		stop(greenStop, "allow", "passed", 6, 29_400, 0.0611,
			passed, gate("check:.:test", event.GatePassed, "", 5_150, ""), gate("check:.:lint", event.GateProven, proof, 0, ""), gate("check:.:vet", event.GateProven, proof, 0, "")),
	} {
		s.append(r)
	}
	s.transcript(at)
}

const lintOutput = `== shellcheck src/*.sh
src/cart.sh: 0 problems

In src/login.sh line 3:
  password=hunter2
  ^------^ SC2034 (warning): password appears unused. Verify use (or export).

In src/login.sh line 4:
  [ $2 = $password ] && echo welcome, $1
    ^-- SC2086 (info): Double quote to prevent globbing and word splitting.

2 problems
`

// log keeps a log as a run of gates does, with what a review found.
func (s *stage) log(name, text string, found []review.Violation) string {
	s.t.Helper()
	path := filepath.Join(kept.Dir(s.state), "shop", "20261117T100000.000Z-"+name+".log")
	checktest.Write(s.t, path, text)
	if found != nil {
		checktest.Write(s.t, kept.FindingsOf(path), string(review.File{Status: review.Fail, Violations: found}.Encode()))
	}
	return path
}

// transcript writes what was said in the session, as Claude Code does.
func (s *stage) transcript(at func(minutes int) time.Time) {
	s.t.Helper()
	var text strings.Builder
	line := func(minutes int, fields map[string]any) {
		fields["timestamp"] = at(minutes).UTC().Format(time.RFC3339)
		fields["sessionId"], fields["uuid"] = toldSession, journal.NewID()
		data, err := json.Marshal(fields)
		check(s.t, err)
		text.Write(append(data, '\n'))
	}
	says := func(minutes int, words string) {
		line(minutes, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": words}})
	}
	says(57, "Let people log in with a password. Keep it short, and do not touch the cart.")
	for i := range 48 {
		line(56-i, map[string]any{"type": "assistant", "message": map[string]any{
			"role": "assistant", "id": fmt.Sprintf("m%d", i), "model": "claude-sonnet-4-5", "content": []any{map[string]any{"type": "text", "text": "working"}},
			"usage": map[string]any{"input_tokens": 200, "output_tokens": 900 + 300*(i%5), "cache_read_input_tokens": 21_000 + 900*i},
		}})
	}
	says(20, "The review is right: no password in the code. Take it from SHOP_PASSWORD, and log failed tries.")
	checktest.Write(s.t, filepath.Join(s.home, ".claude", "projects", "-shop", toldSession+".jsonl"), text.String())
}

// append appends a record to the journal.
func (s *stage) append(r event.Record) {
	s.t.Helper()
	_, err := journal.New(filepath.Join(s.state, "journal"), journal.Limits{}).Append(&r)
	check(s.t, err)
}

// A person finds the session that was blocked, reads why, opens the stop and goes back; what happens
// meanwhile appears by itself.
func TestIssue18WhyDidItStop(t *testing.T) {
	s := newStage(t, "")
	s.story()
	b := open(t, s.ui().Link)
	b.look(phone, false)
	b.visit("/sessions/" + toldSession)
	b.sees("Allowed: 4 gates passed, 2 of them earlier for exactly this content")
	b.sees("Take it from SHOP_PASSWORD")
	b.sees("src/login.sh:3")
	b.visit("/stops/" + lintStop)
	b.sees("Blocked: lint failed")
	b.sees("password appears unused")
	b.visit("/sessions/" + toldSession)
	b.sees("Allowed: 4 gates passed")
	s.append(event.Record{
		Call: journal.NewID(), Session: toldSession, Project: s.root, Kind: event.Answered, Event: "Stop", Decision: "block", Time: time.Now(),
		Verdicts: []event.Verdict{{Keeper: "protect", Outcome: "failed", Blocked: true, Message: "src/cart_test.sh was weakened"}},
	})
	b.sees("Blocked: src/cart_test.sh was weakened")
	b.clean()
}
