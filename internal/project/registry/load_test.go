package registry

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/document"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// The older format, with all that the tools before us wrote.
func TestLoadOlderFormat(t *testing.T) {
	r := load(t, `{
  "hook_settings": {"pane_capture_lines": 100},
  "agents": [{
    "agent_id": "warden",
    "enabled": true,
    "session_name": "warden-main",
    "working_directory": "/srv/project",
    "openclaw_session_id": "d52a3453-3ac6-464b-9533-681560695394",
    "system_prompt_file": "config/default-system-prompt.md",
    "skip_permissions": true,
    "session_history": [{"session_id": "x", "session_file": "y", "rotated_at": "z"}],
    "topic_id": 3,
    "auto_wake": true,
    "enabeld": "whatever is not known",
    "enabeld": "is for check to mind"
  }]
}`)
	want := []OutsideAgent{{
		AgentID: "warden", SessionName: "warden-main", WorkingDirectory: "/srv/project", Enabled: true,
		OpenclawSessionID: "d52a3453-3ac6-464b-9533-681560695394",
		Gateway:           Gateway{Transport: ViaOpenClaw, Program: "openclaw"},
	}}
	if diff := cmp.Diff(want, r.Agents()); diff != "" {
		t.Error(diff)
	}
}

func TestLoadGateways(t *testing.T) {
	for text, want := range map[string]Gateway{
		`{}`:                                   {Transport: ViaOpenClaw, Program: "openclaw"},
		`{"transport":null,"program":null}`:    {Transport: ViaOpenClaw, Program: "openclaw"},
		`{"program":"oc","message_file":true}`: {Transport: ViaOpenClaw, Program: "oc", MessageFile: true},
		`{"message_file":false}`:               {Transport: ViaOpenClaw, Program: "openclaw"},
		`{"transport":"openclaw-http"}`:        {Transport: ViaOpenClawHTTP, URL: "http://127.0.0.1:18789", Endpoint: "agent", TokenEnv: "OPENCLAW_GATEWAY_TOKEN"},
		`{"transport":"openclaw-http","url":"https://gw.example","endpoint":"wake","session_key":"agent:a:k","token_file":"/etc/token"}`: {
			Transport: ViaOpenClawHTTP, URL: "https://gw.example", Endpoint: "wake", SessionKey: "agent:a:k", TokenFile: "/etc/token",
		},
		`{"transport":"openclaw-http","token_env":"MINE"}`:                             {Transport: ViaOpenClawHTTP, URL: "http://127.0.0.1:18789", Endpoint: "agent", TokenEnv: "MINE"},
		`{"transport":"webhook","url":"http://h.example:1/x?y=z","secret_env":"MINE"}`: {Transport: ViaWebhook, URL: "http://h.example:1/x?y=z", SecretEnv: "MINE"},
		`{"transport":"command","command":["notify","","-x"]}`:                         {Transport: ViaCommand, Command: []string{"notify", "", "-x"}},
		`{"transport":"session","session":"boss"}`:                                     {Transport: ViaSession, Session: "boss"},
	} {
		if diff := cmp.Diff(want, agent(t, `"gateway":`+text).Gateway); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

// A file that is there and cannot be understood as a whole permits nothing: it may hold
// a list that permits little.
func TestUnreadPermitsNothing(t *testing.T) {
	dir := Path(t.TempDir())
	check(t, os.Mkdir(dir, 0o700))
	const agents = `"agents":[{"agent_id":"a","session_name":"s","commands":["/clear"]}`
	for name, path := range map[string]string{
		"a missing bracket":  put(t, "{"+agents+"}"),
		"no array":           put(t, `{"agents":{"session_name":"s","commands":["/clear"]}}`),
		"no agents":          put(t, `{"agent":[]}`),
		"no object":          put(t, `[`+strings.TrimPrefix(agents, `"agents":[`)+`]`),
		"empty":              put(t, ""),
		"too many":           put(t, "{"+agents+strings.Repeat(",{}", maxAgents)+"]}"),
		"not a regular file": dir,
	} {
		r, err := Load(path)
		if err == nil || !r.Unread() || len(r.Agents()) != 0 {
			t.Errorf("%s: unread %v, %v", name, r.Unread(), err)
		}
		for _, session := range []string{"s", "other", ""} {
			a, found := r.Find(session)
			if diff := cmp.Diff(OutsideAgent{Commands: []string{}}, a); found || diff != "" || a.Permits("/clear") {
				t.Errorf("%s: %v %s", name, found, diff)
			}
		}
	}
	for name, path := range map[string]string{
		"missing":        Path(t.TempDir()),
		"of nobody":      put(t, `{"agents":[]}`),
		"one bad entry":  put(t, "{"+agents+",3]}"),
		"without faults": put(t, "{"+agents+"]}"),
	} {
		r, _ := Load(path)
		if a, _ := r.Find("other"); r.Unread() || !a.Permits("/clear") {
			t.Errorf("%s: unread %v", name, r.Unread())
		}
	}
}

func TestLoadNothing(t *testing.T) {
	r, err := Load(Path(filepath.Join(t.TempDir(), "missing")))
	if err != nil || len(r.Agents()) != 0 {
		t.Errorf("a missing file: %v, %v", r.Agents(), err)
	}
	if _, found := r.Find("s"); found {
		t.Error("found")
	}
	if got := load(t, `{"agents":[]}`).Agents(); len(got) != 0 {
		t.Error(got)
	}
}

// Every fault has its place and, where there is more to say, a hint.
func TestLoadFaults(t *testing.T) {
	in := func(members string) string {
		return `{"agents":[{"agent_id":"a","session_name":"s",` + members + "}]}"
	}
	for _, tt := range []struct{ text, want, hint string }{
		{"{\n \"agents\": [,]}", ":2:13: invalid character", "no agent is woken"},
		{"{\"agents\": [],}", ":1:15: JSON has no trailing comma", ""},
		{"{\n // x\n}", ":2:2: JSON has no comments", ""},
		{"[]", ":1:1: the top level must be an object, is an array", ""},
		{"", ":1:1: agents is missing", `{"agents": []}`},
		{"{\n\"agents\": {}}", ":2:11: agents must be an array, is an object", ""},
		{`{"agents":[3]}`, ":1:12: agents[0] must be an object, is a number", ""},
		{`{"agents":[{"session_name":"s"}]}`, ":1:12: agents[0].agent_id is missing", ""},
		{`{"agents":[{"agent_id":"","session_name":"s"}]}`, ":1:24: agents[0].agent_id must not be empty", ""},
		{`{"agents":[{"agent_id":"-x","session_name":"s"}]}`, ":1:24: agents[0].agent_id must not begin with -", ""},
		{`{"agents":[{"agent_id":"a\nb","session_name":"s"}]}`, ":1:24: agents[0].agent_id must not contain control characters", ""},
		{`{"agents":[{"agent_id":"a"}]}`, ":1:12: agents[0].session_name is missing", ""},
		{`{"agents":[{"agent_id":"a","session_name":null}]}`, ":1:12: agents[0].session_name is missing", ""},
		{`{"agents":[{"agent_id":"a","tmux_session_name":"s"}]}`, "session_name is missing", "tmux_session_name"},
		{`{"agents":[{"agent_id":"a","session_name":7}]}`, ":1:43: agents[0].session_name must be a string, is a number", ""},
		{`{"agents":[{"agent_id":"a","session_name":"s[*"}]}`, "agents[0].session_name is not a valid pattern: s[*", "needs a closing ]"},
		{in(`"working_directory":[]`), "agents[0].working_directory must be a string, is an array", ""},
		{in(`"working_directory":"a\u0000"`), "working_directory must not contain a NUL character", ""},
		{in(`"openclaw_session_id":1`), "openclaw_session_id must be a string", ""},
		{in(`"wake_on":"stop"`), "wake_on must be an array of strings, is a string", ""},
		{in(`"wake_on":["stop","stpo"]`), `wake_on[1] must be one of stop, idle, permission, question, stop_failure, `, "did you mean stop?"},
		{in(`"wake_on":[1]`), "wake_on[0] must be a string, is a number", ""},
		{in(`"commands":"*"`), "commands must be an array of strings, is a string", ""},
		{in(`"commands":null`), "commands must be an array of strings, is null", ""},
		{in(`"commands":[1]`), "commands[0] must be a string, is a number", ""},
		{in(`"answers":{}`), "answers must be an array, is an object", ""},
		{in(`"answers":["x"]`), "answers[0] must be an object, is a string", ""},
		{in(`"answers":[{"answer":"x"}]`), "answers[0].question is missing", "every question"},
		{in(`"answers":[{"question":"x"}]`), "answers[0].answer is missing", "text"},
		{in(`"answers":[{"question":"x","answer":"a","text":"b"}]`), "answers[0].text cannot be combined with answer", ""},
		{in(`"answers":[{"question":"x","answer":[]}]`), "answers[0].answer must not be empty", ""},
		{in(`"answers":[{"question":"x","answer":["a"," "]}]`), "answers[0].answer must not be empty", ""},
		{in(`"answers":[{"question":"x","answer":1}]`), "answers[0].answer must be a string, is a number", ""},
		{in(`"answers":[{"question":"x","text":""}]`), "answers[0].text must not be empty", ""},
		{in(`"gateway":"x"`), "gateway must be an object, is a string", ""},
		{in(`"gateway":{"transport":"openclaw_http"}`), "gateway.transport must be one of openclaw, openclaw-http, webhook, command, session", "did you mean openclaw-http?"},
		{in(`"gateway":{"transport":""}`), "gateway.transport must be one of", ""},
		{in(`"gateway":{"transport":1}`), "gateway.transport must be a string", ""},
		{in(`"gateway":{"transport":"webhook"}`), "gateway.url is missing", "webhook needs it"},
		{in(`"gateway":{"transport":"command"}`), "gateway.command is missing", ""},
		{in(`"gateway":{"transport":"command","command":[]}`), "gateway.command must begin with a program", ""},
		{in(`"gateway":{"transport":"command","command":["","x"]}`), "gateway.command must begin with a program", ""},
		{in(`"gateway":{"transport":"command","command":["x","\u0000"]}`), "gateway.command must not contain a NUL character", ""},
		{in(`"gateway":{"transport":"command","command":"x"}`), "gateway.command must be an array of strings", ""},
		{in(`"gateway":{"transport":"session"}`), "gateway.session is missing", ""},
		{in(`"gateway":{"transport":"session","session":""}`), "gateway.session must not be empty", ""},
		{in(`"gateway":{"transport":"openclaw-http","endpoint":"weak"}`), "gateway.endpoint must be one of agent, wake", "did you mean wake?"},
		{in(`"gateway":{"transport":"openclaw-http","url":"127.0.0.1:1"}`), "gateway.url must be a URL that begins with http:// or https://", ""},
		{in(`"gateway":{"transport":"webhook","url":"https:///x"}`), "gateway.url must be a URL", ""},
		{in(`"gateway":{"transport":"webhook","url":"ftp://x"}`), "gateway.url must be a URL", ""},
		{in(`"gateway":{"transport":"webhook","url":"http://u:p@x"}`), "gateway.url must not contain a user", ""},
		{in(`"gateway":{"token_env":"A=B"}`), "gateway.token_env must be the name of a variable", ""},
		{in(`"gateway":{"token_env":"$A"}`), "gateway.token_env must be the name of a variable", ""},
		{in(`"gateway":{"token_env":"A","token_file":"f"}`), "gateway.token_file cannot be combined with token_env", ""},
		{in(`"gateway":{"message_file":"yes"}`), "gateway.message_file must be a boolean, is a string", ""},
	} {
		path := put(t, tt.text)
		r, err := Load(path)
		var faults *document.Faults
		if r == nil || !errors.As(err, &faults) || len(faults.All) != 1 {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		got := faults.All[0]
		if !strings.HasPrefix(got.String(), path+":") || !strings.Contains(got.String(), tt.want) || !strings.Contains(got.Hint, tt.hint) || got.Line == 0 {
			t.Errorf("%s:\n%s hint %q; want %s hint %q", tt.text, got, got.Hint, tt.want, tt.hint)
		}
	}
}

// What a fault takes away is never a limit.
func TestFaultsAreOnTheSafeSide(t *testing.T) {
	r, err := Load(put(t, `{"agents":[
		{"agent_id":"a","session_name":"commands","commands":"/clear"},
		{"agent_id":"a","session_name":"some","commands":["/clear",7]},
		{"agent_id":"a","session_name":"rules","answers":[{"question":"a"},{"question":"*","answer":"x"}]},
		{"agent_id":"a","session_name":"gateway","gateway":{"transport":"openclaw-http","url":7}},
		{"agent_id":"a","session_name":"wake","wake_on":{}},
		{"session_name":"nameless-*","commands":["/clear"]},
		{"agent_id":"a","session_name":"bad["},
		3,
		{"agent_id":"b","session_name":"*","commands":["/b"]}
	]}`))
	var faults *document.Faults
	if !errors.As(err, &faults) || len(faults.All) != 8 {
		t.Fatal(err)
	}
	find := func(session string) OutsideAgent {
		t.Helper()
		a, found := r.Find(session)
		if !found || a.AgentID != "a" {
			t.Errorf("%s: %+v, %v", session, a, found)
		}
		return a
	}
	if find("commands").Permits("/clear") {
		t.Error("a list that is none permits")
	}
	if a := find("some"); !a.Permits("/clear") || a.Permits("7") {
		t.Error(a.Commands)
	}
	if a := find("rules"); a.Answers != nil {
		t.Error(a.Answers)
	}
	if a := find("gateway"); a.Gateway.Transport != "" || a.Gateway.URL != "" {
		t.Error(a.Gateway)
	}
	if !find("wake").Wakes("stop") {
		t.Error("not woken")
	}
	find("bad[")
	if a, found := r.Find("nameless-1"); found || !a.Permits("/clear") || a.Permits("/b") {
		t.Errorf("%+v, %v", a, found)
	}
	if a, found := r.Find("other"); !found || a.AgentID != "b" {
		t.Error("the last one does not count")
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Mkdir(Path(dir), 0o700))
	if r, err := Load(Path(dir)); r == nil || err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	huge := put(t, `{"agents":[],"x":"`+strings.Repeat("x", jsonfile.MaxSize)+`"}`)
	if r, err := Load(huge); r == nil || err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
}

// A file of nothing but faults is told in a few.
func TestLoadOfManyFaults(t *testing.T) {
	text := `{"agents":[` + strings.Repeat("{},", maxAgents-1) + `{}]}`
	_, err := Load(put(t, text))
	var faults *document.Faults
	if !errors.As(err, &faults) || len(faults.All) != 101 || faults.All[100].Message != "more than 100 errors, the rest is not shown" {
		t.Fatal(err)
	}
	rules := strings.Repeat(`{"question":"x","text":"y"},`, maxRules)
	_, err = Load(put(t, `{"agents":[{"agent_id":"a","session_name":"s","answers":[`+rules+`{}]}]}`))
	if err == nil || !strings.Contains(err.Error(), "agents[0].answers has 1001 rules, which is more than 1000") {
		t.Error(err)
	}
	r, err := Load(put(t, `{"agents":[{"agent_id":"a","session_name":"s","answers":[`+strings.TrimSuffix(rules, ",")+`]}]}`))
	if agent, _ := r.Find("s"); err != nil || len(agent.Answers) != maxRules {
		t.Errorf("%d rules, %v", len(agent.Answers), err)
	}
	r, err = Load(put(t, `{"agents":[`+strings.Repeat(`{"agent_id":"a","session_name":"s"},`, maxAgents)+`{}]}`))
	if err == nil || !strings.Contains(err.Error(), "agents has 2001 entries, which is more than 2000") || len(r.Agents()) != 0 {
		t.Error(err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", `{"agents":[]}`, `{"agents":[{"agent_id":"a","session_name":"[a-]*","wake_on":["stop"],"commands":["*?"]}]}`,
		`{"agents":[{"agent_id":"a","session_name":"s","gateway":{"transport":"webhook","url":"http://x","secret_env":"A"}}]}`,
		`{"agents":[{"agent_id":"a","session_name":"s","answers":[{"question":"*","answer":["a"]},{"question":"b","text":"c"}]}]}`,
		`{"agents":[{"agent_id":"a","session_name":"s","gateway":{"transport":"session","session":"s"},"token":"x"}]}`,
	} {
		f.Add([]byte(seed), "s")
	}
	path := filepath.Join(f.TempDir(), "r.json")
	f.Fuzz(func(t *testing.T, text []byte, session string) {
		check(t, os.WriteFile(path, text, 0o600))
		r, err := Load(path)
		if r == nil || err != nil && err.Error() == "" {
			t.Fatalf("%v, %v", r, err)
		}
		if a, found := r.Find(session); found && (a.AgentID == "" || a.SessionName == "" || !a.Enabled) {
			t.Fatalf("%+v", a)
		}
		report := Check(path, nil)
		if err != nil && len(report.Faults) == 0 {
			t.Fatalf("Load: %v; Check has nothing", err)
		}
	})
}
