package event

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// plain is Record without its own encoder.
type plain Record

func TestEncoderWritesWhatEncodingJSONWould(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "Stop", "a\nb", "\xff", `"`, "<&>", "\u2028", "ü"}))
	tokens := rapid.Int64Range(0, 1e9)
	rapid.Check(t, func(t *rapid.T) {
		r := Record{
			Version: rapid.Int().Draw(t, "v"), ID: text.Draw(t, "id"), Call: text.Draw(t, "call"),
			Kind: Kind(text.Draw(t, "kind")), Time: time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC(),
			Host: text.Draw(t, "host"), Boot: text.Draw(t, "boot"), PID: rapid.Int().Draw(t, "pid"),
			Event: text.Draw(t, "event"),
			Enums: Enums{
				Source: text.Draw(t, "source"), Reason: text.Draw(t, "reason"), Trigger: text.Draw(t, "trigger"),
				NotificationType: text.Draw(t, "nt"), Error: text.Draw(t, "error"), ToolName: text.Draw(t, "tool"),
				StopHookActive: rapid.Ptr(rapid.Bool(), true).Draw(t, "active"), Reset: text.Draw(t, "reset"),
			},
			Session: text.Draw(t, "session"), Prompt: text.Draw(t, "prompt"),
			Agent: SubagentRef{text.Draw(t, "agent"), text.Draw(t, "type")},
			Pane:  text.Draw(t, "pane"), Project: text.Draw(t, "project"), PromptHash: text.Draw(t, "hash"),
			Word: rapid.Ptr(rapid.Custom(func(t *rapid.T) Word {
				return Word{text.Draw(t, "who"), text.Draw(t, "word"), text.Draw(t, "message"), text.Draw(t, "what"), text.Draw(t, "prompt"), text.Draw(t, "ref"), text.Draw(t, "data")}
			}), true).Draw(t, "said"),
			Decision: text.Draw(t, "decision"),
			Verdicts: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Verdict {
				return Verdict{
					text.Draw(t, "keeper"), text.Draw(t, "outcome"), text.Draw(t, "status"),
					rapid.Bool().Draw(t, "blocked"), text.Draw(t, "message"), rapid.Int64().Draw(t, "start"), rapid.Int64().Draw(t, "ms"),
					Cost{rapid.SampledFrom([]float64{0, 0.0123, 0.5, 12, 1e6}).Draw(t, "usd"), tokens.Draw(t, "in"), tokens.Draw(t, "out"), tokens.Draw(t, "read"), tokens.Draw(t, "creation")},
					rapid.Bool().Draw(t, "reused"),
				}
			}), 0, 3).Draw(t, "verdicts"),
			Effects:    rapid.SliceOfN(text, 0, 3).Draw(t, "effects"),
			DurationMS: rapid.Int64().Draw(t, "ms"),
			Payload:    rapid.SampledFrom([]json.RawMessage{nil, []byte(`{"a":[1,null]}`)}).Draw(t, "payload"),
		}
		want, err := json.Marshal(plain(r))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.AppendJSON(nil); string(got) != string(want) {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestEveryFieldIsWrittenAndReadBack(t *testing.T) {
	yes := true
	r := Record{
		1, "id", "call", Answered, time.Unix(5, 6).UTC(), "host", "boot", 7,
		"Stop",
		Enums{"source", "reason", "trigger", "nt", "error", "tool", &yes, "2026-01-02T15:00:00Z"},
		"session", "prompt",
		SubagentRef{"id", "type"},
		"%1", "/p", "hash",
		&Word{"agent", "complete", "done", "permission", "prompt", "ref", "{}"},
		"block",
		[]Verdict{{"guard", "failed", "failed", true, "why", 1, 8, Cost{0.25, 1, 2, 3, 4}, true}},
		[]Tree{{"/p", "tree", "approval", "failed", "pass", "why", []Gate{{"check:.:t", "failed", "exit 1", 4, 5, "/log", Cost{0.5, 1, 2, 3, 4}}}, 6}},
		[]string{"queue advanced 1/2"},
		9, json.RawMessage(`{}`),
	}
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set in this test", v.Type().Field(i).Name)
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Record
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestDurable(t *testing.T) {
	for _, tt := range []struct {
		record Record
		want   bool
	}{
		{Record{Event: "Stop", Project: "/p"}, true},
		{Record{Event: "SubagentStop", Project: "/p"}, true},
		{Record{Event: "StopFailure", Project: "/p"}, true},
		{Record{Event: "Stop", Verdicts: []Verdict{{}}}, true},
		{Record{Event: "Stop"}, false},
		{Record{Event: AgentSignal}, true},
		{Record{Event: AgentIdle}, false},
		{Record{Event: "PreToolUse", Project: "/p"}, false},
	} {
		if got := tt.record.Durable(); got != tt.want {
			t.Errorf("%+v: %t", tt.record, got)
		}
	}
}
