package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

var get = checktest.Read

func TestAddMakesTheFile(t *testing.T) {
	path := Path(filepath.Join(t.TempDir(), "config"))
	e := Entry{AgentID: "a", Enabled: true, SessionName: "s", WorkingDirectory: "/w", Gateway: &EntryGateway{Transport: ViaCommand, Command: []string{"notify", "<x>"}}}
	check(t, Add(path, e))
	want := `{
  "agents": [
    {
      "agent_id": "a",
      "enabled": true,
      "session_name": "s",
      "working_directory": "/w",
      "gateway": {
        "transport": "command",
        "command": [
          "notify",
          "<x>"
        ]
      }
    }
  ]
}
`
	if diff := cmp.Diff(want, get(t, path)); diff != "" {
		t.Error(diff)
	}
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode())
	}
}

func TestAddKeepsTheRest(t *testing.T) {
	for before, after := range map[string]string{
		"":                            "{\n  \"agents\": [\n    {\n      \"agent_id\": \"a\",\n      \"enabled\": true,\n      \"session_name\": \"s\"\n    }\n  ]\n}\n",
		`{"x" :1}`:                    `{"x" :1,"agents":[{"agent_id":"a","enabled":true,"session_name":"s"}]}`,
		`{"agents": [ ],"y":[1,  2]}`: `{"agents": [{"agent_id": "a", "enabled": true, "session_name": "s"}],"y":[1,  2]}`,
		"{\r\n\t\"agents\": [\r\n\t\t{\"z\": 1.50}\r\n\t]\r\n}": "{\r\n\t\"agents\": [\r\n\t\t{\"z\": 1.50},\r\n\t\t{\r\n\t\t\t\"agent_id\": \"a\",\r\n\t\t\t\"enabled\": true,\r\n\t\t\t\"session_name\": \"s\"\r\n\t\t}\r\n\t]\r\n}",
	} {
		path := put(t, before)
		if err := Add(path, Entry{AgentID: "a", Enabled: true, SessionName: "s"}); err != nil {
			t.Errorf("%s: %v", before, err)
			continue
		}
		if diff := cmp.Diff(after, get(t, path)); diff != "" {
			t.Errorf("%q:\n%s", before, diff)
		}
		r, _ := Load(path)
		if a, found := r.Find("s"); !found || a.AgentID != "a" {
			t.Errorf("%q: not found", before)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	good := Entry{AgentID: "a", Enabled: true, SessionName: "s"}
	for _, tt := range []struct {
		text  string
		entry Entry
		want  string
	}{
		{`{"agents":[{"agent_id":"b","session_name":"s","enabled":false}]}`, good, `the session "s" has an agent already: b`},
		{`{"agents":{}}`, good, ":1:11: agents must be an array, is an object"},
		{`{"agents":`, good, ":1:10: "},
		{`[]`, good, "the top level must be an object"},
		{`{}`, Entry{AgentID: "a"}, "session_name must not be empty"},
		{`{}`, Entry{AgentID: "a", SessionName: "s", Gateway: &EntryGateway{Transport: "pigeon", URL: "x"}}, "gateway.transport must be one of"},
	} {
		path := put(t, tt.text)
		if err := Add(path, tt.entry); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.text, err)
		}
		if got := get(t, path); got != tt.text {
			t.Errorf("%s became %s", tt.text, got)
		}
	}
	var taken *TakenError
	if err := Add(put(t, `{"agents":[{"session_name":"s"}]}`), good); !errors.As(err, &taken) || taken.Session != "s" {
		t.Error(err)
	}
}

func TestAddOfManyAtOnce(t *testing.T) {
	path := Path(t.TempDir())
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := Add(path, Entry{AgentID: "a", Enabled: true, SessionName: fmt.Sprintf("s%d", i%10)}); err != nil && !errors.As(err, new(*TakenError)) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r, err := Load(path); err != nil || len(r.Agents()) != 10 {
		t.Errorf("%d agents, %v", len(r.Agents()), err)
	}
}
