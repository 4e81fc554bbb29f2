package presence

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var noon = time.Date(2026, 2, 20, 12, 0, 0, 0, time.UTC)

var check = checktest.OK

// payload is a captured one, with changes.
func payload(t testing.TB, name string, changes map[string]any) hook.Payload {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "harness", "hook", "testdata", "payloads", name+".json"))
	check(t, err)
	doc := map[string]any{}
	check(t, json.Unmarshal(text, &doc))
	doc["session_id"] = "now"
	maps.Copy(doc, changes)
	text, err = json.Marshal(doc)
	check(t, err)
	p, err := hook.Decode(text, "")
	check(t, err)
	return p
}

func TestAfter(t *testing.T) {
	notification := func(kind string) map[string]any { return map[string]any{"notification_type": kind} }
	reason := func(r string) map[string]any { return map[string]any{"reason": r} }
	tests := []struct {
		name    string
		before  State
		payload string
		changes map[string]any
		want    State
	}{
		{"a start", "", "session-start.startup", nil, Free},
		{"a start after an end", Ended, "session-start.startup", nil, Free},
		{"a resumption", Ended, "session-start.resume", nil, Free},
		{"a clear", Free, "session-start.clear", nil, Free},
		{"a clear in a client that was thought to be busy", Busy, "session-start.clear", nil, Free},
		{"a compaction in the middle of a turn", Busy, "session-start.compact", nil, Busy},
		{"a compaction by hand", Free, "session-start.compact", nil, Free},
		{"a compaction in a client that nobody knew", "", "session-start.compact", nil, Free},
		{"a prompt", Free, "user-prompt-submit.typed-in-tmux", nil, Busy},
		{"a prompt of nobody", Free, "user-prompt-submit.task-notification-not-a-human", nil, Busy},
		{"a stop", Busy, "stop.first", nil, Free},
		{"a stop after a dialog", Asking, "stop.first", nil, Free},
		{"an API error", Busy, "stop-failure.api-error", nil, Free},
		{"a dialog", Busy, "permission-request.bash", nil, Asking},
		{"another dialog", Asking, "permission-request.bash", nil, Asking},
		{"a dialog that was noticed", Busy, "notification.permission-prompt", nil, Asking},
		{"idle", Busy, "notification.idle-prompt", nil, Free}, // somebody interrupted it
		{"idle after a dialog", Asking, "notification.idle-prompt", nil, Free},
		{"another notification", Busy, "notification.idle-prompt", notification("auth_success"), Busy},
		{"an end", Free, "session-end.other", nil, Ended},
		{"an end by exit", Busy, "session-end.other", reason("prompt_input_exit"), Ended},
		{"an end that is a clear", Free, "session-end.clear", nil, Free},
		{"an end that is a resumption", Free, "session-end.other", reason("resume"), Free},
		{"a tool", Busy, "pre-tool-use.bash", nil, Busy},
		{"a tool of a client that nobody knew", "", "pre-tool-use.ask-user-question", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := Instance{Session: "s", Socket: "/s", PID: 1, Pane: "%1", State: tt.before, Since: noon}
			want := before
			want.State = tt.want
			if tt.want != tt.before || tt.name == "another dialog" {
				want.Since = noon.Add(time.Minute)
			}
			here := time.FixedZone("here", 3600)
			if diff := cmp.Diff(want, before.After(payload(t, tt.payload, tt.changes), noon.Add(time.Minute).In(here))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What an agent was told of counts until something happens that is no notice of the same.
func TestToldOf(t *testing.T) {
	c := Instance{State: Free}
	if c.ToldOf("p1") || c.ToldOf("") {
		t.Error("told of nothing")
	}
	told := c.Tell("p1")
	if !told.ToldOf("p1") || !told.ToldOf("") || told.ToldOf("p2") {
		t.Errorf("told of %q", told.Told)
	}
	if c := c.Tell(""); !c.ToldOf("p1") || !c.ToldOf("") {
		t.Errorf("without prompt ids: %q", c.Told)
	}
	for name, kept := range map[string]bool{
		"notification.idle-prompt": true, "notification.permission-prompt": true,
		"user-prompt-submit.typed-in-tmux": false, "stop.first": false, "stop-failure.api-error": false, "session-start.startup": false,
	} {
		if got := told.After(payload(t, name, nil), noon); got.ToldOf("p1") != kept {
			t.Errorf("after %s: %q", name, got.Told)
		}
	}
}

func TestBook(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	b := NewBook(state)
	if _, known := b.Load("/s", 1, "%1"); known || len(b.All()) != 0 {
		t.Error("somebody is known before anybody was told of")
	}
	instances := []Instance{
		{Session: "a", Socket: "/s", PID: 1, Pane: "%1", State: Free, Since: noon},
		{Session: "a", Socket: "/s", PID: 1, Pane: "%11", State: Busy, Since: noon.Add(2 * time.Second)},
		{Session: "a b\n../c", Socket: "/tmp/x,y\n/s", PID: 1, Pane: "%1", State: Asking, Since: noon.Add(time.Second)},
		{Session: "a", Socket: "/s", PID: 2, Pane: "%1", State: Ended, Since: noon.Add(3 * time.Second)},
	}
	for _, c := range instances {
		check(t, b.Store(c))
	}
	for _, c := range instances {
		got, known := b.Load(c.Socket, c.PID, c.Pane)
		if diff := cmp.Diff(c, got); !known || diff != "" {
			t.Errorf("known: %t, %s", known, diff)
		}
	}
	if _, known := b.Load("/s", 3, "%1"); known {
		t.Error("a pane of another server is known")
	}
	if diff := cmp.Diff([]Instance{instances[3], instances[1], instances[2], instances[0]}, b.All()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Instance{instances[3], instances[1], instances[0]}, b.Find("a")); diff != "" {
		t.Error(diff)
	}
	if got := b.Find("a b"); len(got) != 0 {
		t.Errorf("found %+v", got)
	}
	instances[0].State = Busy
	check(t, b.Store(instances[0]))
	if got, _ := b.Load("/s", 1, "%1"); got.State != Busy {
		t.Errorf("the client is %s", got.State)
	}

	entries, err := os.ReadDir(filepath.Join(state, "presence"))
	check(t, err)
	if len(entries) != len(instances) {
		t.Errorf("%d files for %d clients", len(entries), len(instances))
	}
}

// What is damaged is not known, and what is known of others is not lost by it.
func TestDamagedFiles(t *testing.T) {
	state := t.TempDir()
	b := NewBook(state)
	fine := Instance{Session: "a", Socket: "/s", PID: 1, Pane: "%1", State: Free, Since: noon}
	broken := Instance{Session: "a", Socket: "/s", PID: 1, Pane: "%2", State: Free, Since: noon}
	check(t, b.Store(fine))
	for _, text := range []string{"", "{", "[]", `{"session":7}`, `{"session":"a","socket":"/s","pid":1,"pane":"%3"}`} {
		check(t, os.WriteFile(b.path("/s", 1, "%2"), []byte(text), 0o600))
		if got, known := b.Load("/s", 1, "%2"); known {
			t.Errorf("%s: %+v is known", text, got)
		}
		if got, known := b.Load("/s", 1, "%1"); !known || got != fine {
			t.Errorf("%s: the other one is %+v, %t", text, got, known)
		}
	}
	check(t, os.WriteFile(b.path("/s", 1, "%2"), []byte("{"), 0o600))
	check(t, os.WriteFile(filepath.Join(state, "presence", ".stopgate-1"), []byte("{}"), 0o600))
	if diff := cmp.Diff([]Instance{fine}, b.All()); diff != "" {
		t.Error(diff)
	}
	check(t, b.Store(broken)) // the next hook fixes it
	if _, known := b.Load("/s", 1, "%2"); !known {
		t.Error("not fixed")
	}
}

func TestStoreThatCannotWrite(t *testing.T) {
	state := t.TempDir()
	check(t, os.WriteFile(filepath.Join(state, "presence"), nil, 0o600))
	if err := NewBook(state).Store(Instance{Pane: "%1"}); err == nil {
		t.Error("no error")
	}
}

func TestSweep(t *testing.T) {
	b := NewBook(t.TempDir())
	b.Sweep(noon) // of nothing
	const day = 24 * time.Hour
	for pane, age := range map[string]time.Duration{"%1": 31 * day, "%2": 29 * day, "%3": 0, "%4": -day} {
		check(t, b.Store(Instance{Session: pane, Socket: "/s", PID: 1, Pane: pane}))
		at := noon.Add(-age)
		check(t, os.Chtimes(b.path("/s", 1, pane), at, at))
	}
	b.Sweep(noon)
	for pane, want := range map[string]bool{"%1": false, "%2": true, "%3": true, "%4": true} {
		if _, known := b.Load("/s", 1, pane); known != want {
			t.Errorf("pane %s known: %t", pane, known)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"session":"a","socket":"/s","pid":1,"pane":"%1","client_session":"c","state":"free","since":"2026-02-20T12:00:00Z"}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b := NewBook(t.TempDir())
		path := b.path("/s", 1, "%1")
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, text, 0o600))
		c, known := b.Load("/s", 1, "%1")
		if !known {
			return
		}
		if c.Socket != "/s" || c.PID != 1 || c.Pane != "%1" {
			t.Fatalf("%+v is another pane", c)
		}
		check(t, b.Store(c))
		if again, known := b.Load("/s", 1, "%1"); !known || !again.Since.Equal(c.Since) || again.State != c.State || again.Session != c.Session {
			t.Fatalf("%+v was read back as %+v", c, again)
		}
	})
}
