package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/control/fleet/link"
)

var noon = time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)

// full is an owner with everything in it, each text made by a function.
func full(text func(name string) string) daemonapi.Owner {
	id := fmt.Sprintf("%016x", 7)
	return daemonapi.Owner{
		ID: id, Kind: "pipeline", Status: "waiting", Created: noon, Updated: noon,
		Name: text("name"), Command: text("command"), Project: text("project"), Cwd: text("cwd"), Step: text("step"),
		Error: text("error"), Reason: text("reason"), Held: text("held"), By: text("by"), Notice: text("SECRET notice"),
		Vars:    map[string]string{"x": text("SECRET vars")},
		Steps:   []daemonapi.Visit{{Step: "one", Error: text("SECRET steps")}},
		Outputs: map[string]daemonapi.Output{"one": {Signal: text("SECRET outputs")}},
		Agent:   &daemonapi.Agent{ID: "aa", Owner: id, Name: text("agent"), Status: "waiting", Started: noon, Transcript: text("SECRET transcript")},
		Decision: &daemonapi.Decision{
			ID: "dd", Owner: id, Name: text("name"), Source: "question", Context: text("context"), Created: noon,
			Options: []daemonapi.Option{{Number: 1, Name: text("option"), Description: text("description")}},
			Ask: &daemonapi.Ask{
				Tool: text("tool"), Plan: text("SECRET plan"), Input: text("SECRET input"),
				Questions: []daemonapi.Question{{Question: text("question"), Options: []daemonapi.Choice{{Label: text("label")}}}},
			},
			Details: &daemonapi.Details{LastMessage: text("SECRET details")},
		},
		Workspaces: []daemonapi.Workspace{{Path: text("workspace")}},
		WaitsFor:   &daemonapi.Room{Group: text("group"), Inside: []string{"bb"}},
	}
}

func TestIssue20AViewHasNoSecrets(t *testing.T) {
	text, err := Encode(full(func(name string) string { return name }), true)
	check(t, err)
	if strings.Contains(string(text), "SECRET") {
		t.Errorf("a view has what stays on its machine: %s", text)
	}
	o, err := Decode(fmt.Sprintf("%016x", 7), text)
	check(t, err)
	if o.Decision.Context != "context" || o.Decision.Ask.Questions[0].Question != "question" || o.Agent.Name != "agent" || o.WaitsFor.Group != "group" {
		t.Errorf("a view has not what is needed to decide: %s", text)
	}
}

// Where a user of the fleet may not see what runs here, a view says that it is there, and nothing else.
func TestIssue20AViewWithoutWords(t *testing.T) {
	text, err := Encode(full(func(name string) string { return "«" + name + "»" }), false)
	check(t, err)
	for _, word := range []string{"context", "reason", "error", "command", "project", "cwd", "question", "option", "description", "workspace", "group"} {
		if strings.Contains(string(text), "«"+word+"»") {
			t.Errorf("it has the %s: %s", word, text)
		}
	}
	o, err := Decode(fmt.Sprintf("%016x", 7), text)
	check(t, err)
	if o.Name != "«name»" || o.Status != "waiting" || o.Agent.Status != "waiting" || o.Decision.ID != "dd" {
		t.Errorf("%s", text)
	}
}

func TestAViewIsNeverTooLarge(t *testing.T) {
	for _, piece := range []string{"x", "\x00", "é", "<&>", "\xff"} {
		for _, n := range []int{1, 1000, 100_000, 1 << 20} {
			o := full(func(string) string { return strings.Repeat(piece, n) })
			for range 100 {
				o.Decision.Options = append(o.Decision.Options, o.Decision.Options[0])
				o.Decision.Ask.Questions = append(o.Decision.Ask.Questions, o.Decision.Ask.Questions[0])
				o.Workspaces = append(o.Workspaces, o.Workspaces[0])
				o.WaitsFor.Inside = append(o.WaitsFor.Inside, strings.Repeat("b", 16))
			}
			text, err := Encode(o, true)
			check(t, err)
			if len(text) > link.MaxView {
				t.Fatalf("%d times %q: %d bytes", n, piece, len(text))
			}
			if _, err := Decode(o.ID, text); err != nil {
				t.Errorf("%d times %q: %v", n, piece, err)
			}
		}
	}
}

func TestViewsOfOtherVersions(t *testing.T) {
	v := NewOthers(func() {})
	id := fmt.Sprintf("%016x", 7)
	newer := `{"v":2,"owner":{"id":"` + id + `"}}`
	future := `{"v":1,"from_the_future":1,"owner":{"id":"` + id + `","kind":"pipeline","status":"dreaming","created":"2026-01-30T12:00:00Z","moods":[1]}}`
	for _, text := range []string{newer, "{", "null", `{"v":1,"owner":{"id":"` + fmt.Sprintf("%016x", 8) + `"}}`} {
		v.Take("vps", id, []byte(text))
	}
	if !v.Empty() {
		t.Error("what is no view of this version is shown")
	}
	v.Take("vps", id, []byte(future))
	if v.Empty() {
		t.Error("a view with fields that we do not know is passed over")
	}
}

// Whatever members send, a machine keeps a bounded part of it, and of each member what lives and the newest.
func TestIssue20OthersAreBounded(t *testing.T) {
	v := NewOthers(func() {})
	send := func(member string, i int, ended bool) {
		o := daemonapi.Owner{ID: fmt.Sprintf("%016x", i), Kind: "pipeline", Status: "running", Name: "build", Created: noon.Add(time.Duration(i) * time.Second)}
		if ended {
			o.Status, o.Ended = "done", &o.Created
		}
		text, err := Encode(o, true)
		check(t, err)
		v.Take(member, o.ID, text)
	}
	for i := range 10_000 {
		send("vps", i, i >= 10) // the oldest ten live
	}
	live, oldest := 0, noon.Add(time.Hour*1000)
	for _, o := range v.All() {
		if o.Ended == nil {
			live++
		} else if o.Created.Before(oldest) {
			oldest = o.Created
		}
	}
	if v.count > mostOf || v.count < mostOf*9/10 || live != 10 || oldest != noon.Add(time.Duration(10_000-v.count+10)*time.Second) {
		t.Errorf("%d views, %d live, the oldest of %s", v.count, live, oldest)
	}
	for m := range 200 {
		for i := range 150 {
			send(fmt.Sprint("m", m), i, true)
		}
	}
	count, bytes := 0, 0
	for member, owners := range v.members {
		count += len(owners)
		if member != "vps" && len(owners) < 90 {
			t.Errorf("%s has %d views: another one took its room", member, len(owners))
		}
		for _, one := range owners {
			bytes += one.size
		}
	}
	if count > mostAll || count < mostAll*9/10 || count != v.count || bytes != v.bytes {
		t.Errorf("%d views (%d counted), %d bytes (%d counted)", count, v.count, bytes, v.bytes)
	}
	v.Keep(map[string]bool{"m1": true})
	v.Keep(nil)
	if v.count != 0 || v.bytes != 0 || !v.Empty() {
		t.Errorf("%d views of %d bytes are left of none", v.count, v.bytes)
	}
}

// What is not there any more when everything is read again was removed.
func TestReadingAgain(t *testing.T) {
	v := NewOthers(func() {})
	text := func(i int) []byte {
		text, err := Encode(daemonapi.Owner{ID: fmt.Sprintf("%016x", i), Kind: "run", Status: "running", Created: noon}, true)
		check(t, err)
		return text
	}
	take := func(i int) { v.Take("vps", fmt.Sprintf("%016x", i), text(i)) }
	v.Begin()
	take(1)
	take(2)
	v.Caught()
	v.Begin()
	take(2)
	if v.count != 2 {
		t.Error("what is known is gone before everything was read")
	}
	take(3)
	v.Caught()
	var ids []string
	for _, o := range v.All() {
		ids = append(ids, o.ID[15:])
	}
	if len(ids) != 2 || v.members["vps"][fmt.Sprintf("%016x", 1)] != nil {
		t.Errorf("it has %v", ids)
	}
	v.Take("vps", fmt.Sprintf("%016x", 2), nil)
	v.Take("vps", fmt.Sprintf("%016x", 3), nil)
	if !v.Empty() {
		t.Error("what was removed is there")
	}
}

func FuzzDecode(f *testing.F) {
	id := fmt.Sprintf("%016x", 7)
	text, err := Encode(full(func(name string) string { return name }), true)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"v":1,"owner":{"agent":{},"decision":{"ask":null}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := Decode(id, text)
		if err != nil {
			return
		}
		again, err := Encode(o, true)
		if err != nil || len(again) > link.MaxView {
			t.Fatalf("%d bytes: %v", len(again), err)
		}
		if _, err := Decode(id, again); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}
