package engine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// storedFacts are facts as every stopgate has written them: what is in a store stays readable.
var storedFacts = []string{
	`{"type":"pipeline:created","kind":"pipeline","name":"n","command":"c","project":"/p","cwd":"/d","vars":{"x":"1"},"plan":{}}`,
	`{"type":"pipeline:created","kind":"pipeline","name":"n","command":"c","project":"/p","cwd":"/d","by":"job 1","job":{"id":"1","again":true},"plan":{}}`,
	`{"type":"agent_run:created","kind":"run","name":"n","command":"c","project":"/p","cwd":"/d","plan":{}}`,
	`{"type":"step:started","step":"s","agent_id":"a","agent_name":"n","session":"t","client":true}`,
	`{"type":"step:completed","step":"s"}`,
	`{"type":"step:failed","step":"s","error":"e"}`,
	`{"type":"step:cancelled","step":"s"}`,
	`{"type":"step:waiting","step":"s","reason":"r","decision_id":"d"}`,
	`{"type":"pipeline:advanced","step":"s"}`,
	`{"type":"pipeline:cancelling","why":"w"}`,
	`{"type":"pipeline:resumed","step":"s","vars":{"x":"1"}}`,
	`{"type":"agent_run:status_changed","status":"escalated","reason":"r","decision_id":"d"}`,
	`{"type":"owner:deleted"}`,
	`{"type":"agent:signal","agent_id":"a","kind":"complete","message":"m"}`,
	`{"type":"agent:idle","agent_id":"a","prompt_id":"p","counted":true}`,
	`{"type":"agent:stop","agent_id":"a","prompt_id":"p"}`,
	`{"type":"agent:prompt","agent_id":"a","prompt_type":"permission","text":"t","kept":"later"}`,
	`{"type":"agent:asked","agent_id":"a","ref":"r","prompt_type":"question","text":"t","ask":{"tool":"T","plan":"p","input":"i","questions":[{"question":"q","header":"h","options":[{"label":"l","description":"d"}],"multi":true}]},"subagent":true}`,
	`{"type":"agent:prompt_over","agent_id":"a","ref":"r"}`,
	`{"type":"agent:blocked","agent_id":"a","screen":"trust","text":"t"}`,
	`{"type":"agent:ready","agent_id":"a"}`,
	`{"type":"agent:began","agent_id":"a"}`,
	`{"type":"agent:spent","agent_id":"a","usd":1.5,"tokens":7}`,
	`{"type":"agent:error","agent_id":"a","kind":"rate_limited","text":"t","reset":"2026-01-30T12:00:00Z","prompt_id":"p"}`,
	`{"type":"agent:rested","agent_id":"a","prompt_id":"p","unmet":"u"}`,
	`{"type":"agent:working","agent_id":"a","prompt_id":"p","source":"task","ours":true}`,
	`{"type":"agent:session","agent_id":"a","session":"s"}`,
	`{"type":"agent:exited","agent_id":"a","code":1,"gone":true,"tail":"t"}`,
	`{"type":"agent:restarted","agent_id":"b","session":"s","replaces":"a","client":true}`,
	`{"type":"agent:resaid","agent_id":"a"}`,
	`{"type":"agent:deferred","trigger":"idle","detail":"d","until":"2026-01-30T12:00:00Z"}`,
	`{"type":"decision:created","id":"d","source":"idle","agent_id":"a","step":"s","context":"c","trigger":"idle","undone":"u","next":"n","ref":"r","subagent":true,"ask":{},"options":[{"name":"nudge","description":"d","recommended":true}],"created":"2026-01-30T12:00:00Z"}`,
	`{"type":"decision:resolved","id":"d","chosen":"nudge","message":"m","answers":["a"],"expired":true}`,
	`{"type":"decision:closed","id":"d","why":"w"}`,
	`{"type":"budget:extended","usd":2}`,
	`{"type":"attempt:counted","trigger":"idle","attempt":2}`,
	`{"type":"person:intervened"}`,
	`{"type":"timer:set","name":"cooldown","due":"2026-01-30T12:00:00Z"}`,
	`{"type":"timer:cancelled","name":"cooldown"}`,
	`{"type":"timer:fired","name":"cooldown"}`,
	`{"type":"effect:started","key":"k"}`,
	`{"type":"effect:done","key":"k"}`,
	`{"type":"effect:failed","key":"k","why":"w","kept":true}`,
	`{"type":"effect:lost","key":"k","why":"w"}`,
	`{"type":"effect:dropped","key":"k","kept":true}`,
	`{"type":"shell:started","key":"k","gate":"idle"}`,
	`{"type":"shell:started","key":"k","timeout":3600000000000}`,
	`{"type":"step:retrying","step":"s","error":"e","attempt":2}`,
	`{"type":"step:skipped","step":"s"}`,
	`{"type":"failures:overruled"}`,
	`{"type":"pipeline:ending","at":"failed"}`,
	`{"type":"pipeline:queued","group":"g","limit":2,"cancel":true,"step":"s","session":"x","message":"m","again":true}`,
	`{"type":"pipeline:admitted","group":"g"}`,
	`{"type":"shell:exited","key":"k","code":1,"lost":true,"tail":"t"}`,
	`{"type":"shell:dropped","key":"k"}`,
	`{"type":"workspace:wanted","name":"a","dir":"/w/p-1","kind":"worktree","branch":"b","base":"main","keep":"never","state":"making","key":"k","commit":"c","note":"n","kept":"k","had":true}`,
	`{"type":"workspace:made","key":"k","name":"a","commit":"c","note":"n","found":true}`,
	`{"type":"workspace:failed","name":"a","why":"w"}`,
	`{"type":"workspace:left","name":"a","key":"k","kept":"k"}`,
	`{"type":"workspace:removed","key":"k","name":"a","kept":"k","note":"n"}`,
	`{"type":"group:planned","step":"s","children":[{"name":"n","item":"i","id":"c","state":"pending","why":"w","usd":1,"values":{"k":"v"}}]}`,
	`{"type":"group:leaving","cancel":true,"why":"w"}`,
	`{"type":"child:started","child":1,"id":"c","usd":0.5}`,
	`{"type":"child:passed_over","child":"n","why":"w"}`,
	`{"type":"child:reported","id":"c","state":"done","why":"w","output":{"values":{"k":"v"},"tail":"t","signal":"s","error":"e"},"cost":{"usd":1,"tokens":2}}`,
	`{"type":"parent:told","state":"waiting"}`,
}

func TestStoredFactsAreReadAndWrittenAsTheyWere(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range storedFacts {
		f, err := decodeFact([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		seen[f.EventType()] = true
		again, err := encodeFact(f)
		if _, created := f.(Created); created {
			continue // its plan is the runbook's affair
		}
		if err != nil || string(again) != text {
			t.Errorf("read\n%s\nwritten\n%s\n%v", text, again, err)
		}
	}
	for name := range factTypes {
		if !seen[name] {
			t.Errorf("there is no %s here", name)
		}
	}
}

// A fact has the name in Go that it has in the store.
func TestFactsAreNamedAsTheyAreStored(t *testing.T) {
	for _, text := range storedFacts {
		f, err := decodeFact([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		words := strings.FieldsFunc(f.EventType(), func(r rune) bool { return r == ':' || r == '_' })
		want := ""
		for _, word := range words {
			want += strings.ToUpper(word[:1]) + word[1:]
		}
		got := reflect.TypeOf(f).Name()
		if _, created := f.(Created); !created && got != want {
			t.Errorf("%s is a %s", f.EventType(), got)
		}
	}
}

// Agents in snapshots have one flat form, however many types they have here.
func TestStoredAgentsAreRead(t *testing.T) {
	const stored = `{"id":"a","name":"n","session":"s","started":"2026-01-30T12:00:00Z","client":true,"prompt":"p","ready":true,"busy":true,"unmet":"u","exited":true,
		"signal":{"kind":"complete","message":"m"},"values":{"k":"v"},"idle":"p1","erred":"p2","pending":"idle","detail":"d","until":"2026-01-30T12:00:00Z",
		"asking":[{"ref":"r","prompt_type":"plan","text":"t","ask":{"plan":"x"},"subagent":true}],"asked":"2026-01-30T12:00:00Z","dialog":{"prompt_type":"other","text":"t"},
		"over":["o"],"before":["b"],"killed":true,"unsaid":["w"]}`
	var agent Agent
	if err := json.Unmarshal([]byte(stored), &agent); err != nil {
		t.Fatal(err)
	}
	if d := diff(stored, text(agent)); d != "" {
		t.Error(d)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Agent]()) {
		if !f.Anonymous && reflect.ValueOf(agent).FieldByIndex(f.Index).IsZero() {
			t.Errorf("%s was not read", f.Name)
		}
	}
}

// The life of an agent is a function of what it was and of what happens, and nothing else.
func TestLife(t *testing.T) {
	client := Life{ClaudeCode: true}
	ready := Life{ClaudeCode: true, Prompt: "do it", Ready: true}
	busy := Life{ClaudeCode: true, Ready: true, Busy: true}
	for name, test := range map[string]struct {
		before Life
		fact   Fact
		want   Life
	}{
		"a client is heard of":        {client, AgentReady{}, Life{ClaudeCode: true, Ready: true}},
		"it begins":                   {ready, AgentBegan{}, Life{ClaudeCode: true, Ready: true}},
		"it works":                    {Life{ClaudeCode: true, Ready: true, Unmet: "red"}, AgentWorking{}, busy},
		"a plain process works":       {Life{}, AgentWorking{}, Life{}},
		"it rests":                    {busy, AgentRested{}, Life{ClaudeCode: true, Ready: true}},
		"it is let go":                {busy, AgentRested{Unmet: "red"}, Life{ClaudeCode: true, Ready: true, Unmet: "red"}},
		"it exits in a turn":          {busy, AgentExited{}, Life{ClaudeCode: true, Ready: true, Busy: true, Exited: true}},
		"what is heard after its end": {Life{ClaudeCode: true, Exited: true}, AgentWorking{}, Life{ClaudeCode: true, Exited: true}},
		"what says nothing of it":     {busy, AgentIdle{Counted: true}, busy},
	} {
		if d := cmp.Diff(test.want, test.before.after(test.fact)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	started := client.due(Effect{Kind: StartAgent, Agent: &AgentStart{ClaudeCode: true, Prompt: "do it"}})
	if d := cmp.Diff(Life{ClaudeCode: true, Prompt: "do it"}, started); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(Life{ClaudeCode: true, Prompt: "do it", Killed: true}, started.due(Effect{Kind: KillAgent})); d != "" {
		t.Error(d)
	}
}
