package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var check = checktest.OK

// TestMain keeps the locks out of the state directory of whoever runs the tests.
func TestMain(m *testing.M) {
	environtest.Clean()
	dir, err := os.MkdirTemp("", "registry")
	if err != nil {
		panic(err)
	}
	os.Setenv("STOPGATE_STATE_DIR", filepath.Join(dir, "state"))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// put writes a registry and returns its path.
func put(t testing.TB, text string) string {
	t.Helper()
	path := Path(t.TempDir())
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// load reads a registry that must be without faults.
func load(t testing.TB, text string) *Registry {
	t.Helper()
	r, err := Load(put(t, text))
	check(t, err)
	return r
}

// agent reads a registry of one agent with these members besides its names.
func agent(t testing.TB, members string) OutsideAgent {
	t.Helper()
	r := load(t, `{"agents":[{"agent_id":"a","session_name":"s",`+members+`}]}`)
	return r.Agents()[0]
}

func TestFind(t *testing.T) {
	r := load(t, `{"agents":[
		{"agent_id":"all","session_name":"w-*"},
		{"agent_id":"off-first","session_name":"w-2","enabled":false},
		{"agent_id":"exact","session_name":"w-1"},
		{"agent_id":"second","session_name":"w-2"},
		{"agent_id":"third","session_name":"w-2"},
		{"agent_id":"off","session_name":"w-off","enabled":false},
		{"agent_id":"nobody","session_name":"x-*","enabled":false},
		{"agent_id":"narrow","session_name":"x-[ab]?"},
		{"agent_id":"literal","session_name":"[z]"},
		{"agent_id":"slash","session_name":"a/*/b"},
		{"agent_id":"null","session_name":"n","enabled":null},
		{"agent_id":"zero","session_name":"o","enabled":0}
	]}`)
	for session, want := range map[string]string{
		"w-1":     "exact",
		"w-2":     "second",
		"w-3":     "all",
		"w-":      "all",
		"w-4/5":   "all",
		"w-off":   "", // switched off, and so not left to w-*
		"W-1":     "",
		"x-a1":    "narrow",
		"x-c1":    "",
		"x-a12":   "",
		"[z]":     "literal",
		"z":       "literal",
		"a/x/y/b": "slash",
		"n":       "null",
		"o":       "zero",
		"":        "",
		"w-*":     "all",
		"other":   "",
	} {
		a, found := r.Find(session)
		if a.AgentID != want || found != (want != "") {
			t.Errorf("%q: found %q, %v; want %q", session, a.AgentID, found, want)
		}
	}
}

func TestAgentsAreInTheOrderOfTheFile(t *testing.T) {
	r := load(t, `{"agents":[{"agent_id":"b","session_name":"2"},{"agent_id":"a","session_name":"1","enabled":false}]}`)
	var got []string
	for _, a := range r.Agents() {
		got = append(got, a.AgentID)
	}
	if diff := cmp.Diff([]string{"b", "a"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWakes(t *testing.T) {
	for _, tt := range []struct{ members, kind string }{
		{`"enabled":true`, "stop"},
		{`"enabled":true`, "idle"},
		{`"wake_on":["idle","stop"]`, "stop"},
		{`"wake_on":[]`, "queue_complete"},
		{`"wake_on":["idle"]`, "queue_failed"},
	} {
		if !agent(t, tt.members).Wakes(tt.kind) {
			t.Errorf("%s: not %s", tt.members, tt.kind)
		}
	}
	for _, tt := range []struct{ members, kind string }{
		{`"wake_on":[]`, "stop"},
		{`"wake_on":["stop"]`, "stop_failure"},
		{`"wake_on":["stop"]`, ""},
	} {
		if agent(t, tt.members).Wakes(tt.kind) {
			t.Errorf("%s: %s", tt.members, tt.kind)
		}
	}
}

func TestPermits(t *testing.T) {
	for _, tt := range []struct {
		members, command string
		want             bool
	}{
		{`"enabled":true`, "rm -rf /", true},
		{`"commands":[]`, "/clear", false},
		{`"commands":["/clear"]`, "/clear", true},
		{`"commands":["/clear"]`, "/clear ", false},
		{`"commands":["/clear"]`, "/CLEAR", false},
		{`"commands":["/clear","/gsd:*"]`, "/gsd:plan-phase 3\nand more/of it", true},
		{`"commands":["/gsd:*"]`, "please /gsd:x", false},
		{`"commands":["/gsd:?"]`, "/gsd:ä", true},
		{`"commands":["/gsd:?"]`, "/gsd:", false},
		{`"commands":["*"]`, "", true},
		{`"commands":["a*b*c"]`, "a b b x c", true},
		{`"commands":["a*b*c"]`, "a b b x", false},
		{`"commands":["[ab]"]`, "a", false},
		{`"commands":["[ab]"]`, "[ab]", true},
		{`"commands":["**"]`, "x", true},
		{`"commands":[""]`, "x", false},
		{`"commands":["a?"]`, "a\xff", true},
		{`"commands":["\ufffd"]`, "\xff", false},
	} {
		if got := agent(t, tt.members).Permits(tt.command); got != tt.want {
			t.Errorf("%s: %q %v", tt.members, tt.command, got)
		}
	}
}

// A pattern that must try again at each place is no reason to wait.
func TestPermitsLongTexts(t *testing.T) {
	a := OutsideAgent{Commands: []string{"*a*a*a*a*b"}}
	if a.Permits(strings.Repeat("a", 1<<20)) {
		t.Error("permitted")
	}
}
