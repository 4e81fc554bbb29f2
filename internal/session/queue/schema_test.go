package queue

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/session/queue/queuetest"
)

const seedQueue = queuetest.Seed

var plainJSON = queuetest.Plain

func parsed(t testing.TB, doc string) Queue {
	t.Helper()
	q, err := Parse([]byte(doc))
	check(t, err)
	return q
}

func TestSeed4SchemaANewQueueIsTheSeedsDocument(t *testing.T) {
	got := text(t, fresh("/clear", "/gsd:plan-phase 3"))
	if diff := cmp.Diff(plainJSON(t, seedQueue), plainJSON(t, got)); diff != "" {
		t.Errorf("(-seed +got):\n%s", diff)
	}
}

// A queue without our objects, as older scripts write it, moves on like any other.
func TestSeed4SchemaTheSeedsQueueRunsByItsHooks(t *testing.T) {
	q := parsed(t, seedQueue)
	if diff := cmp.Diff(plainJSON(t, seedQueue), plainJSON(t, text(t, q))); diff != "" {
		t.Errorf("it does not survive reading (-seed +got):\n%s", diff)
	}
	o := after(q, SessionEnd{"clear"}, SessionStart{"clear", "c2"})
	wantOutcome(t, o, Advanced, true)
	o = after(parsed(t, text(t, o.Queue)), sent(2, "p1", "/gsd:plan-phase 3")...)
	o = after(parsed(t, text(t, o.Queue)), Stop{"p1", "The plan <is> ready & \"good\"."})
	wantEnd(t, o, Complete, "")
	const want = `{"commands": [
		{"id": 1, "command": "/clear", "status": "done",
		 "trigger": {"hook": "Stop", "sub": null}, "awaits": {"hook": "SessionStart", "sub": "clear"},
		 "result": null, "completed_at": "2026-02-20T12:00:00.000Z"},
		{"id": 2, "command": "/gsd:plan-phase 3", "status": "done",
		 "trigger": {"hook": "SessionStart", "sub": "clear"}, "awaits": {"hook": "Stop", "sub": null},
		 "result": "The plan <is> ready & \"good\".", "completed_at": "2026-02-20T12:00:00.000Z"}]}`
	if diff := cmp.Diff(plainJSON(t, want), plainJSON(t, text(t, o.Queue))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRuling314OurFieldsAreInOneStopgateObject(t *testing.T) {
	running := after(fresh("/clear", "a", "b"), Begun{1}, Pressed{1}, SessionStart{"clear", "c2"}, Begun{2}, Pressed{2}, Prompt{"p1", "a"}).Queue
	for name, q := range map[string]Queue{
		"new":       fresh("/clear", "a", "b"),
		"running":   running,
		"stale":     after(running, SessionStart{"startup", "c3"}).Queue,
		"failed":    after(running, StopFailure{"p1", "x"}).Queue,
		"cancelled": after(running, Prompt{"p2", "x"}).Queue,
		"by hand":   after(parsed(t, seedQueue), SessionStart{"resume", "c2"}).Queue,
	} {
		var doc map[string]json.RawMessage
		check(t, json.Unmarshal([]byte(text(t, q)), &doc))
		want := []string{"commands", "stopgate"}
		if name == "cancelled" {
			want = []string{"commands", "status", "stopgate"}
			if string(doc["status"]) != `"cancelled"` {
				t.Errorf("status %s", doc["status"])
			}
		}
		if got := slices.Sorted(maps.Keys(doc)); !slices.Equal(got, want) {
			t.Errorf("%s: the queue has %q", name, got)
		}
		var commands []map[string]json.RawMessage
		check(t, json.Unmarshal(doc["commands"], &commands))
		for _, c := range commands {
			delete(c, "stopgate")
			if got := slices.Sorted(maps.Keys(c)); !slices.Equal(got, []string{"awaits", "command", "completed_at", "id", "result", "status", "trigger"}) {
				t.Errorf("%s: a command has %q", name, got)
			}
			for _, hook := range []string{"trigger", "awaits"} {
				var h map[string]json.RawMessage
				check(t, json.Unmarshal(c[hook], &h))
				if got := slices.Sorted(maps.Keys(h)); !slices.Equal(got, []string{"hook", "sub"}) {
					t.Errorf("%s: %s has %q", name, hook, got)
				}
			}
		}
	}
}

// What is not known is null or absent, not zero.
func TestAQueueByHandGetsNoInventedFacts(t *testing.T) {
	q := after(parsed(t, seedQueue), SessionStart{"resume", "c2"}).Queue
	if doc := text(t, q); strings.Contains(doc, "created_at") || strings.Contains(doc, "0001") {
		t.Error(doc)
	}
}

func TestParseRefusesWhatNoQueueCanBe(t *testing.T) {
	const second = `"command": "/gsd:plan-phase 3",
      "status": "pending"`
	for name, test := range map[string]struct{ doc, want string }{
		"empty":              {"", "unexpected end of JSON input"},
		"half":               {seedQueue[:200], "unexpected end of JSON input"},
		"binary":             {"\x00\x01\xff", "invalid character"},
		"two documents":      {seedQueue + seedQueue, "after top-level value"},
		"null":               {"null", "it has no commands"},
		"no commands":        {`{"commands":[]}`, "it has no commands"},
		"an array":           {`[]`, "cannot unmarshal array"},
		"two active":         {strings.Replace(seedQueue, "pending", "active", 1), "command 2 is active before command 1 is done"},
		"done too early":     {strings.Replace(seedQueue, "pending", "done", 1), "command 2 is done before command 1 is done"},
		"out of order":       {strings.NewReplacer("active", "pending", "pending", "active").Replace(seedQueue), "command 2 is active before command 1 is done"},
		"one id twice":       {strings.Replace(seedQueue, `"id": 2`, `"id": 1`, 1), "two commands have the id 1"},
		"unknown status":     {strings.Replace(seedQueue, "pending", "finished", 1), `command 2 has unknown status "finished"`},
		"no status":          {strings.Replace(seedQueue, "pending", "", 1), `command 2 has unknown status ""`},
		"unknown end":        {strings.Replace(seedQueue, "{", `{"status": "paused",`, 1), `unknown status "paused"`},
		"awaits nothing":     {strings.Replace(seedQueue, `"awaits": { "hook": "Stop", "sub": null }`, `"awaits": {}`, 1), "command 2 does not name the hook that it awaits"},
		"unknown delivery":   {strings.Replace(seedQueue, second, `"stopgate": {},`+second, 1), `the delivery of command 2 has unknown state ""`},
		"a date that is not": {strings.Replace(seedQueue, `"completed_at": null`, `"completed_at": "yesterday"`, 1), "parsing time"},
		"before the year 0":  {strings.Replace(seedQueue, `"completed_at": null`, `"completed_at": "0000-01-01T00:00:00+01:00"`, 1), "the year must have four digits"},
	} {
		if _, err := Parse([]byte(test.doc)); err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "invalid queue file: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTimesAreWrittenAsJavaScriptDoes(t *testing.T) {
	var at Time
	check(t, json.Unmarshal([]byte(`"2026-02-20T13:30:00.1239+01:00"`), &at))
	if got, err := json.Marshal(at); err != nil || string(got) != `"2026-02-20T12:30:00.123Z"` {
		t.Errorf("%s, %v", got, err)
	}
}
