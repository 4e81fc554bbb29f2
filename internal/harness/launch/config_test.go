package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

// write makes a file, and its directories, and returns its path.
func write(t *testing.T, text string, path ...string) string {
	t.Helper()
	at := filepath.Join(path...)
	checktest.Write(t, at, text)
	return at
}

var read = checktest.Read

// parsed is a ccc.json that must be right.
func parsed(t *testing.T, text string) *Config {
	t.Helper()
	d, err := jsonfile.Parse("ccc.json", []byte(text))
	must(t, err)
	c, err := decode("ccc.json", d)
	must(t, err)
	return c
}

func TestLoad(t *testing.T) {
	path := write(t, `{
  "settings": {"env": {"A": "1"}, "model": "opus"},
  "providers": {"glm": {"env": {"B": 2, "C": true}}, "kimi": {}},
  "current_provider": "kimi",
  "claude_args": ["--verbose"],
  "supervisor": {"max_iterations": 1e1, "timeout_seconds": 120, "prompt_file": "p.md", "max_cost_usd": 0.5, "later": []},
  "CLAUDE_ARGS": 5,
  "later": {"settings": 7}
}`, t.TempDir(), ConfigFile)
	c, err := Load(path)
	must(t, err)
	want := &Config{
		Path:       path,
		Settings:   Object{"env": json.RawMessage(`{"A": "1"}`), "model": json.RawMessage(`"opus"`)},
		Providers:  map[string]Object{"glm": {"env": json.RawMessage(`{"B": 2, "C": true}`)}, "kimi": {}},
		Current:    "kimi",
		ClaudeArgs: []string{"--verbose"},
		Supervisor: config.Supervisor{MaxIterations: new(10), Timeout: new(2 * time.Minute), PromptFile: "p.md", MaxCost: new(0.5)},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestLoadNamesEveryFault(t *testing.T) {
	path := write(t, `{
  "settings": [],
  "providers": {
    "glm": {"env": "x"},
    "kimi": {"env": {"A": null, "B": {}, "C": "a\u0000b", "D=E": "x", "": "x", "CCC_WORK_DIR": "x", "CLAUDE_CONFIG_DIR": "x"}},
    "mini": 3
  },
  "current_provider": 5,
  "claude_args": ["a", 1],
  "supervisor": {"max_iterations": 101, "timeout_seconds": 0, "prompt_file": true, "max_cost_usd": 0}
}`, t.TempDir(), ConfigFile)
	_, err := Load(path)
	if _, ok := errors.AsType[ConfigError](err); !ok {
		t.Fatalf("not a ConfigError: %v", err)
	}
	want := strings.ReplaceAll(`P:2:15: settings must be an object, is an array
P:4:20: providers.glm.env must be an object, is a string
P:5:66: providers.kimi.env has "D=E", which is not a variable name
P:5:75: providers.kimi.env has "", which is not a variable name
P:5:96: providers.kimi.env.CCC_WORK_DIR is read before a provider is chosen: set it in the shell that starts stopgate
P:5:122: providers.kimi.env.CLAUDE_CONFIG_DIR is read before a provider is chosen: set it in the shell that starts stopgate
P:5:27: providers.kimi.env.A must be a string, a number or a boolean, is null
P:5:38: providers.kimi.env.B must be a string, a number or a boolean, is an object
P:5:47: providers.kimi.env.C must be without a NUL character
P:6:13: providers.mini must be an object, is a number
P:8:23: current_provider must be a string, is a number
P:9:24: claude_args[1] must be a string, is a number
P:10:36: supervisor.max_iterations must be a whole number from 1 to 100
P:10:60: supervisor.timeout_seconds must be a whole number from 1 to 3600
P:10:78: supervisor.prompt_file must be a string, is a boolean
P:10:100: supervisor.max_cost_usd must be above 0`, "P", path)
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefusesValues(t *testing.T) {
	for text, want := range map[string]string{
		`{"settings":{"env":{"A":null}}}`:         `:1:25: settings.env.A must be a string, a number or a boolean, is null`,
		`{"settings":{"env":{"A":["x"]}}}`:        `:1:25: settings.env.A must be a string, a number or a boolean, is an array`,
		`{"settings":{"env":{"A":"s\u0000"}}}`:    `:1:25: settings.env.A must be without a NUL character`,
		`{"supervisor":{"prompt_file":"\u0000"}}`: `:1:30: supervisor.prompt_file must be without a NUL character`,
		`{"claude_args":["s\u0000"]}`:             `:1:17: claude_args[0] must be without a NUL character`,
		`{"supervisor":{"max_iterations":1.5}}`:   `:1:33: supervisor.max_iterations must be a whole number from 1 to 100`,
		`{"supervisor":{"max_cost_usd":1e999}}`:   `:1:31: supervisor.max_cost_usd must be above 0`,
		`{"supervisor":null}`:                     `:1:15: supervisor must be an object, is null`,
		`[]`:                                      `:1:1: the top level must be an object, is an array`,
		`{"providers":{},}`:                       `:1:17: JSON has no trailing comma`,
		"{\n  // mine\n}":                         `:2:3: JSON has no comments`,
		`{"settings":{"env":{"STOPGATE_X":"1"}}}`: `:1:34: settings.env.STOPGATE_X is read before a provider is chosen: set it in the shell that starts stopgate`,
	} {
		path := write(t, text, t.TempDir(), ConfigFile)
		if _, err := Load(path); err == nil || err.Error() != path+want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestLoadMissing(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), ConfigFile))
	if e, ok := errors.AsType[ConfigError](err); !ok || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(e.Hint, `"providers"`) {
		t.Errorf("got %v", err)
	}
}

func TestLoadSupervisor(t *testing.T) {
	for _, tt := range []struct {
		text string
		want config.Supervisor
		err  string
	}{
		{text: ``},
		{text: `{}`},
		{text: `{"providers": 5, "supervisor": {"max_iterations": 3}}`, want: config.Supervisor{MaxIterations: new(3)}},
		{text: `{"supervisor": {"timeout_seconds": 10}}`, want: config.Supervisor{Timeout: new(10 * time.Second)}},
		{text: `{"supervisor": {"max_iterations": 0}}`, err: ":1:35: supervisor.max_iterations must be a whole number from 1 to 100"},
		{text: `{`, err: ":1:1: unexpected end of JSON input"},
	} {
		path := write(t, tt.text, t.TempDir(), ConfigFile)
		got, err := LoadSupervisor(path)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", tt.text, diff)
		}
		if (err == nil) != (tt.err == "") || err != nil && err.Error() != path+tt.err {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
	if got, err := LoadSupervisor(filepath.Join(t.TempDir(), "none")); err != nil || got != (config.Supervisor{}) {
		t.Errorf("a missing file: %v, %v", got, err)
	}
}

func TestUseKeepsEveryOtherByte(t *testing.T) {
	t.Setenv("STOPGATE_STATE_DIR", t.TempDir()) // of the lock
	const text = "{\n\t\"later\": [1,  2],\n\t\"current_provider\" :  \"a\",\n\t\"providers\": {\"a\":{}, \"b\":{\"x\":1.0}}\n}"
	path := write(t, text, t.TempDir(), ConfigFile)
	c, err := Load(path)
	must(t, err)
	must(t, c.Use("b"))
	if diff := cmp.Diff(strings.Replace(text, `"a",`, `"b",`, 1), read(t, path)); diff != "" {
		t.Error(diff)
	}

	c, err = Load(path)
	must(t, err)
	must(t, os.Remove(path))
	must(t, c.Use("b")) // it is the current one: nothing is written
	if _, err := os.Stat(path); err == nil {
		t.Error("the second time it was written")
	}
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"providers":{"a":{"env":{"A":"$B","C":"${D}","E":"$$","F":1e3,"G":true}}},"current_provider":"a"}`,
		`{"settings":{"env":{"A":"x"},"permissions":{"allow":["x"]}},"providers":{"":{"permissions":{"deny":[]}}},"claude_args":["\u0000"]}`,
		`{"supervisor":{"max_iterations":5,"timeout_seconds":10,"max_cost_usd":1e-9}}`,
		`{"providers":{"a":{}},"providers":{"a":[]}}`, `{"settings":null}`, "\xef\xbb\xbf{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := jsonfile.Parse("ccc.json", text)
		if err != nil {
			return
		}
		c, err := decode("ccc.json", d)
		if err != nil {
			return
		}
		_, _ = c.Choose("")
		for _, name := range c.Names() {
			if got, err := c.Choose(name); name != "" && (err != nil || got != name) {
				t.Errorf("Choose(%q) = %q, %v", name, got, err)
			}
			if merged, err := json.Marshal(c.MergedSettings(name)); err != nil || !json.Valid(merged) {
				t.Errorf("settings of %q: %s, %v", name, merged, err)
			}
			env, _ := c.Environment(name, []string{"B=b"})
			for variable, value := range env {
				if variable == "" || strings.ContainsAny(variable, "=\x00") || strings.Contains(value, "\x00") {
					t.Errorf("no process can have %q=%q", variable, value)
				}
			}
		}
		d.Set("current_provider", "a\nb")
		again, err := jsonfile.Parse("ccc.json", d.Text())
		if err != nil {
			t.Fatalf("after a change: %v\n%s", err, d.Text())
		}
		var before, after Object
		if again.Decode(&after) != nil || json.Unmarshal(bytes.TrimPrefix(text, []byte(jsonfile.ByteOrderMark)), &before) != nil {
			return // an empty file
		}
		delete(before, "current_provider")
		delete(after, "current_provider")
		if diff := cmp.Diff(before, after); diff != "" {
			t.Error(diff)
		}
	})
}
