package agentdir

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

func at(t testing.TB) Dir {
	t.Helper()
	d, err := At(t.TempDir(), "agent-1")
	check(t, err)
	return d
}

var check = checktest.OK

func put(t testing.TB, d Dir, text string, names ...string) {
	t.Helper()
	path := d.Path(names...)
	check(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestNames(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "a/b", `a\b`, "a b", "a\nb", "ä", "a.b", strings.Repeat("x", 65)} {
		if d, err := At("/state", bad); err == nil {
			t.Errorf("%q is taken for an id: %s", bad, d.Path())
		}
		if id := FromEnviron([]string{Variable + "=" + bad}); id != "" {
			t.Errorf("the environment's %q is taken for an id", id)
		}
		d := at(t)
		if _, err := d.Asked(bad); bad != strings.Repeat("x", 65) && (err == nil || errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("%q is taken for the name of a call: %v", bad, err)
		}
	}
	d, err := At("/state", "0190-Abc_"+strings.Repeat("x", 55))
	check(t, err)
	if want := filepath.Join("/state", "agents", "0190-Abc_"+strings.Repeat("x", 55), "asked", "1.json"); d.Path("asked", "1.json") != want {
		t.Errorf("%s, want %s", d.Path("asked", "1.json"), want)
	}
}

func TestFromEnviron(t *testing.T) {
	for _, test := range []struct {
		env  []string
		want string
	}{
		{nil, ""},
		{[]string{"STOPGATE_AGENT_ID=a"}, "a"},
		{[]string{"OJ_AGENT_ID=b"}, "b"},
		{[]string{"OJ_AGENT_ID=b", "STOPGATE_AGENT_ID=a"}, "a"},
		{[]string{"OJ_AGENT_ID=b", "STOPGATE_AGENT_ID="}, "b"},
		{[]string{"STOPGATE_AGENT_ID=a", "STOPGATE_AGENT_ID=c"}, "c"},
	} {
		if got := FromEnviron(test.env); got != test.want {
			t.Errorf("%q: %q, want %q", test.env, got, test.want)
		}
	}
}

func TestOnStop(t *testing.T) {
	for _, want := range []string{Signal, Idle, Escalate} {
		d := at(t)
		check(t, d.WriteConfig(want))
		if got := d.OnStop(); got != want {
			t.Errorf("%q was written, %q is read", want, got)
		}
		text, err := os.ReadFile(d.Path("config.json"))
		check(t, err)
		if string(text) != `{"on_stop":"`+want+`"}` {
			t.Errorf("the file holds %s", text)
		}
	}
	for text, want := range map[string]string{
		`{"on_stop":"idle"}`:                           Idle,
		"{\n \"on_stop\" : \"escalate\" , \"x\": 1}\n": Escalate,
		`{"x":[{}],"on_stop":"idle"}`:                  Idle,
		`{"on_stop":"i\u0064le"}`:                      Idle,
		`{"on_stop":"nudge"}`:                          Signal,
		`{"on_stop":5}`:                                Signal,
		`{"on_stop":"idle"`:                            Signal,
		`{}`:                                           Signal,
		`null`:                                         Signal,
		``:                                             Signal,
		strings.Repeat(" ", 2<<20) + `{"on_stop":"idle"}`: Signal,
	} {
		d := at(t)
		put(t, d, text, "config.json")
		if got := d.OnStop(); got != want {
			t.Errorf("%.60q means %q, want %q", text, got, want)
		}
	}
	d := at(t)
	if d.OnStop() != Signal || d.Exists() {
		t.Error("an agent that is not there does not have to signal")
	}
	check(t, os.MkdirAll(d.Path("config.json"), 0o700))
	if d.OnStop() != Signal || !d.Exists() {
		t.Error("a directory for a file")
	}
}

func TestSession(t *testing.T) {
	d := at(t)
	if _, err := d.Session(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no session is %v", err)
	}
	for _, want := range []Session{{ID: "one"}, {ID: "one", Left: true}, {ID: "zwö\n\"2"}, {}} {
		check(t, d.SetSession(want))
		got, err := d.Session()
		check(t, err)
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for _, bad := range []string{"", "{", `{"session":5}`, `{"session":"a","left":"yes"}`, `[]`} {
		put(t, d, bad, "session.json")
		if s, err := d.Session(); err == nil || s != (Session{}) {
			t.Errorf("%q is read as %+v, %v", bad, s, err)
		}
	}
}

func TestTerminal(t *testing.T) {
	d := at(t)
	if _, err := d.Terminal(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no terminal is %v", err)
	}
	want := Terminal{Socket: "/a b/tmux.sock", Session: "stopgate-worker-0b5e7b5c"}
	check(t, d.SetTerminal(want))
	got, err := d.Terminal()
	check(t, err)
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	put(t, d, `{"socket":`, "terminal.json")
	if got, err := d.Terminal(); err == nil {
		t.Errorf("a damaged file is read as %+v", got)
	}
}

func TestLast(t *testing.T) {
	d := at(t)
	if _, err := d.Last(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing said is %v", err)
	}
	when := time.Date(2026, 11, 15, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	for _, want := range []Last{
		{Message: "done", Transcript: "/t.jsonl", Cwd: "/work", Prompt: "p1", Time: when},
		{Message: "Größe \"5\"\n\t\x1b[1m", Time: when, Error: "rate limit"},
		{},
	} {
		check(t, d.SetLast(want))
		got, err := d.Last()
		check(t, err)
		want.Time = want.Time.UTC()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	put(t, d, `{"message":"x","time":"yesterday"}`, "last.json")
	if l, err := d.Last(); err == nil {
		t.Errorf("a damaged file is read as %+v", l)
	}
}

func TestLastIsClipped(t *testing.T) {
	d := at(t)
	check(t, d.SetLast(Last{Message: strings.Repeat("ä", 10<<20) + "?", Error: strings.Repeat("e", MaxMessage+1)}))
	got, err := d.Last()
	check(t, err)
	if n := len(got.Message); n > MaxMessage || n < MaxMessage-4 || !strings.HasSuffix(got.Message, "ä?") || !strings.HasPrefix(got.Message, "…ä") || !utf8.ValidString(got.Message) {
		t.Errorf("%d bytes: %.20q…%q", n, got.Message, got.Message[n-10:])
	}
	if len(got.Error) != MaxMessage {
		t.Errorf("the error has %d bytes", len(got.Error))
	}
	check(t, d.SetLast(Last{Message: strings.Repeat("m", MaxMessage)}))
	if got, _ := d.Last(); got.Message != strings.Repeat("m", MaxMessage) {
		t.Error("a message that fits is clipped")
	}
}

func TestAsked(t *testing.T) {
	d := at(t)
	for ref, want := range map[string]Asked{
		"1":    {Type: Question, Tool: "AskUserQuestion", Input: json.RawMessage(`{"questions":[{"question":"Größe?\n"}]}`)},
		"a_-B": {Type: Plan, Tool: "ExitPlanMode"},
		"big":  {Type: Permission, Tool: "mcp__x__y", Input: json.RawMessage(`"` + strings.Repeat("x", MaxInput-2) + `"`)},
	} {
		check(t, d.Ask(ref, want))
		got, err := d.Asked(ref)
		check(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	for name, bad := range map[string]json.RawMessage{
		"too much": json.RawMessage(`"` + strings.Repeat("x", MaxInput) + `"`),
		"no JSON":  json.RawMessage(`{"a":`),
		"two":      json.RawMessage(`1}{`),
	} {
		if d.Ask("bad", Asked{Input: bad}) == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := d.Asked("bad"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing asked is %v", err)
	}
}

func TestPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("has no such modes")
	}
	d := at(t)
	check(t, errors.Join(d.WriteConfig(Idle), d.SetSession(Session{ID: "s"}), d.SetLast(Last{}), d.Ask("r", Asked{})))
	err := filepath.WalkDir(d.Path(), func(path string, entry fs.DirEntry, err error) error {
		check(t, err)
		info, err := entry.Info()
		check(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return nil
	})
	check(t, err)
}

func TestFind(t *testing.T) {
	state := t.TempDir()
	for _, id := range []string{"aa11", "aa1", "aa22", "bb"} {
		check(t, os.MkdirAll(filepath.Join(state, "agents", id), 0o700))
	}
	check(t, os.WriteFile(filepath.Join(state, "agents", "cc"), nil, 0o600))
	for prefix, want := range map[string][]string{
		"aa": {"aa1", "aa11", "aa22"}, "aa1": {"aa1"}, "aa2": {"aa22"}, "b": {"bb"}, "bbb": nil, "cc": nil, "": nil, "../agents/bb": nil,
	} {
		if diff := cmp.Diff(want, Find(state, prefix)); diff != "" {
			t.Errorf("%q:\n%s", prefix, diff)
		}
	}
	if got := Find(filepath.Join(state, "nowhere"), "aa"); len(got) > 0 {
		t.Errorf("found %q", got)
	}
}
