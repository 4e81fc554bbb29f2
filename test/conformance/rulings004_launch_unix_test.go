//go:build unix

package conformance

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The client's own cap is 8; it must not end a series of reviews before we do.
func TestRuling47TheLaunchRaisesTheClientsCap(t *testing.T) {
	t.Parallel()
	const name = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
	for given, tt := range map[string]struct {
		limit int
		keeps bool
	}{
		"": {10, false}, "8": {10, false}, "10": {10, false}, "11": {10, true}, "50": {10, true}, "0": {10, true},
		"no number": {10, false}, "20": {40, false},
	} {
		t.Run(given, func(t *testing.T) {
			d := newDesk(t)
			spill(t, d.claude("ccc.json"), fmt.Sprintf(`{"providers":{"glm":{}},"supervisor":{"max_iterations":%d}}`, tt.limit))
			d.set("CCC_SUPERVISOR=1")
			if given != "" {
				d.set(name + "=" + given)
			}
			d.starts("glm")
			call := d.only()
			if tt.keeps {
				call.has(t, name, given)
				return
			}
			if got := call.variable(name); len(got) != 1 || atoi(t, got[0]) <= tt.limit {
				t.Errorf("the cap is %q with a limit of %d", got, tt.limit)
			}
		})
	}
}

// crowded is a settings file of a person who has much in it, in a layout of their own.
const crowded = `{
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "theme":   "dark", "n": 1.50e1,
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}],
        "Stop": [
            {"hooks": [{"type": "command", "command": "say done", "timeout": 5}]}
        ]
    },
	"permissions": {"allow": ["Bash(ls:*)"]},
    "unknown": {"é": "\u00e9", "z": null}
}
`

// withoutOurs is a settings file without the entries that call the supervisor.
func withoutOurs(t *testing.T, text string) any {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	hooks := file["hooks"].(map[string]any)
	groups := hooks["Stop"].([]any)
	hooks["Stop"] = slices.DeleteFunc(groups, func(group any) bool {
		return strings.Contains(encode(group), " supervisor-hook")
	})
	return file
}

func TestRuling410EverythingElseIsKept(t *testing.T) {
	d := newDesk(t)
	path := d.claude("settings.json")
	spill(t, path, crowded)
	chmod(t, path, 0o640)
	d.set("CCC_SUPERVISOR=1")
	d.starts("glm")
	first := slurp(t, path)
	var want any
	check(t, json.Unmarshal([]byte(crowded), &want))
	if diff := cmp.Diff(want, withoutOurs(t, first)); diff != "" {
		t.Error(diff)
	}
	for line := range strings.Lines(crowded) { // as they were written
		if trimmed := strings.TrimSpace(line); len(trimmed) > 2 && !strings.Contains(first, strings.TrimSuffix(trimmed, ",")) {
			t.Errorf("%q became something else in\n%s", trimmed, first)
		}
	}
	d.mode(path, 0o640)

	backups, err := filepath.Glob(path + ".*backup*")
	if err != nil || len(backups) != 1 || slurp(t, backups[0]) != crowded {
		t.Fatalf("backups %q, %v", backups, err)
	}
	d.mode(backups[0], 0o600)

	// A second launch changes nothing, and does not even write.
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	check(t, os.Chtimes(path, old, old))
	d.starts("glm")
	if info, err := os.Stat(path); err != nil || !info.ModTime().Equal(old) || slurp(t, path) != first {
		t.Errorf("the second launch wrote: %v, %v", info, err)
	}

	// A plain one takes out exactly ours.
	d.set("CCC_SUPERVISOR=0")
	d.starts("glm")
	if diff := cmp.Diff(crowded, slurp(t, path)); diff != "" {
		t.Error(diff)
	}
	d.mode(path, 0o640)
}

func (d *desk) mode(path string, want fs.FileMode) {
	d.t.Helper()
	info, err := os.Stat(path)
	check(d.t, err)
	if info.Mode().Perm() != want {
		d.t.Errorf("%s is %s, want %s", path, info.Mode(), want)
	}
}

// What a person wrote meanwhile stays, also when ours goes.
func TestRuling410EditsMadeMeanwhileStay(t *testing.T) {
	d := newDesk(t)
	path := d.claude("settings.json")
	spill(t, path, crowded)
	d.set("CCC_SUPERVISOR=1")
	d.starts("glm")
	spill(t, path, strings.Replace(slurp(t, path), `"dark"`, `"light"`, 1))
	d.set("CCC_SUPERVISOR=")
	d.starts("glm")
	if diff := cmp.Diff(strings.Replace(crowded, `"dark"`, `"light"`, 1), slurp(t, path)); diff != "" {
		t.Error(diff)
	}
}

// A file that we made goes with our entry; an entry that somebody wrote stays.
func TestRuling410OnlyOursGoes(t *testing.T) {
	d := newDesk(t)
	path := d.claude("settings.json")
	d.set("CCC_SUPERVISOR=1")
	d.starts("glm")
	d.mode(path, 0o600)
	d.set("CCC_SUPERVISOR=0")
	d.starts("glm")
	if exists(path) {
		t.Errorf("left: %s", slurp(t, path))
	}
	const foreign = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/other supervisor-hook-v2"},{"type":"command","command":"/opt/mine/reviewer supervisor-hook"}]}]}}`
	spill(t, path, foreign)
	d.starts("glm")
	if got := slurp(t, path); got != foreign {
		t.Errorf("became %s", got)
	}
}

func TestRuling410AnOlderEntryIsReplaced(t *testing.T) {
	d := newDesk(t)
	path := d.claude("settings.json")
	spill(t, path, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/old/place/ccc supervisor-hook","timeout":600},{"type":"command","command":"mine"}]}]}}`)
	d.set("CCC_SUPERVISOR=1")
	d.starts("glm")
	want := fmt.Sprintf(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"%s supervisor-hook","timeout":660},{"type":"command","command":"mine"}]}]}}`, d.ccc())
	if diff := cmp.Diff(want, slurp(t, path)); diff != "" {
		t.Error(diff)
	}
}

func TestRuling410AMalformedFileIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"half of it": "{\n  \"theme\": \"dark\",\n", "a list": "[]", "no JSON": "theme: dark", "hooks of another type": `{"hooks": []}`,
		"Stop of another type": `{"hooks": {"Stop": {}}}`, "the client would drop it": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":"5"}]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			path := d.claude("settings.json")
			spill(t, path, text)
			d.set("CCC_SUPERVISOR=1")
			r := d.launch("glm")
			if r.code != 1 || r.stdout != "" || len(d.calls()) != 0 {
				t.Errorf("%d calls, %+v", len(d.calls()), r)
			}
			contains(t, r.stderr, path+":")
			if got := slurp(t, path); got != text {
				t.Errorf("became %q", got)
			}
			// Unsupervised it is the client's to complain.
			d.set("CCC_SUPERVISOR=0")
			d.starts("glm")
			if got := slurp(t, path); got != text {
				t.Errorf("became %q", got)
			}
		})
	}
}

// The file is shared and read again at once: while a supervised client lives, a plain
// launch leaves the entry.
func TestRuling410ALivingClientStaysSupervised(t *testing.T) {
	d := newDesk(t)
	path := d.claude("settings.json")
	spill(t, path, crowded)
	d.acts(`test "$1" != wait || until test -e '` + d.beside("go") + `'; do sleep 0.01; done`)
	plain := d.env
	d.set("CCC_SUPERVISOR=1")
	living := d.start("glm", "wait")
	check(t, living.Start())
	t.Cleanup(func() { _ = living.Process.Kill(); _ = living.Wait() })
	eventually(t, "the client runs", func() bool { return len(d.calls()) == 1 })
	supervised := slurp(t, path)
	d.env = plain
	d.starts("glm")
	if diff := cmp.Diff(supervised, slurp(t, path)); diff != "" {
		t.Errorf("a plain launch beside it: %s", diff)
	}
	spill(t, d.beside("go"), "")
	check(t, living.Wait())
	d.starts("glm")
	if diff := cmp.Diff(crowded, slurp(t, path)); diff != "" {
		t.Errorf("a plain launch after it: %s", diff)
	}
}

func TestRuling413Modes(t *testing.T) {
	d := newDesk(t)
	d.answers(initLine, verdictLine(false, "go on"))
	d.hook(nil) // makes the directory
	d.mode(d.state(""), 0o700)
	d.acts("")
	d.set("CCC_SUPERVISOR=1")
	d.set("CCC_WORK_DIR=" + d.beside("work"))
	spill(t, d.claude("settings.json"), "{}")
	chmod(t, d.claude("settings.json"), 0o644)
	d.starts("glm") // makes another
	d.mode(d.beside("work/ccc"), 0o700)
	d.set("CCC_WORK_DIR=")
	d.answers(initLine, verdictLine(false, "go on"))
	d.countTo("damaged", "x")
	d.hook(map[string]any{"session_id": "damaged"})
	private := 0
	for _, root := range []string{d.state(""), filepath.Join(d.home, ".local", "state", "stopgate")} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if entry.IsDir() {
				want = 0o700
			}
			if strings.Contains(path, ".damaged") { // as the person made it
				return nil
			}
			private++
			d.mode(path, want)
			return nil
		})
		check(t, err)
	}
	if private < 6 {
		t.Errorf("only %d files", private)
	}
	backups, err := filepath.Glob(d.claude("settings.json.*"))
	if err != nil || len(backups) == 0 {
		t.Errorf("backups %q, %v", backups, err)
	}
	for _, backup := range backups {
		d.mode(backup, 0o600)
	}
}

// twoProviders is a ccc.json with everything in it.
const twoProviders = `{
  "settings": {"permissions": {"allow": ["Read"], "defaultMode": "plan"}, "theme": "light", "env": {"SHARED": "base", "BASE_ONLY": 1}},
  "providers": {
    "glm": {"env": {"ANTHROPIC_BASE_URL": "http://glm.example", "ANTHROPIC_AUTH_TOKEN": "$GLM_TOKEN", "SHARED": "glm", "FLAG": true}, "statusLine": {"type": "command", "command": "glm"}},
    "kimi": {"env": {"ANTHROPIC_BASE_URL": "http://kimi.example", "ANTHROPIC_AUTH_TOKEN": "kimi-token-1234"}, "permissions": {"defaultMode": "default"}}
  },
  "claude_args": ["--verbose", "two words"],
  "mine": {"unknown":   "stays"}
}
`

func TestRuling416ProviderEnvironment(t *testing.T) {
	d := newDesk(t)
	spill(t, d.claude("ccc.json"), twoProviders)
	d.env = append(d.env, "GLM_TOKEN=glm-token-5678", "ANTHROPIC_API_KEY=left-over", "ANTHROPIC_MODEL=left-over", "CLAUDE_CODE_USE_BEDROCK=1",
		"CLAUDE_CODE_OAUTH_TOKEN=left-over", "ANTHROPIC_BASE_URL=http://left.over", "SHARED=left-over", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_TERMINAL_TITLE=1")
	d.starts("glm", "-p", "x")
	call := d.only()
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": "http://glm.example", "ANTHROPIC_AUTH_TOKEN": "glm-token-5678", "SHARED": "glm", "FLAG": "true", "BASE_ONLY": "1",
		"DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1", "HOME": d.home,
	} {
		call.has(t, name, value)
	}
	call.hasNot(t, "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN")
	if diff := cmp.Diff([]string{"--verbose", "two words", "-p", "x"}, call.args); diff != "" {
		t.Error(diff)
	}
	if text := slurp(t, d.claude("settings.json")); strings.Contains(text, "env") || strings.Contains(text, "token") {
		t.Errorf("the environment is in the settings file: %s", text)
	}
	// The choice is kept, and nothing else of the file changes.
	want := strings.Replace(twoProviders, `"stays"}`+"\n}", `"stays"},`+"\n"+`  "current_provider": "glm"`+"\n}", 1)
	if diff := cmp.Diff(want, slurp(t, d.claude("ccc.json"))); diff != "" {
		t.Error(diff)
	}
	d.starts("--continue")
	d.calls()[1].has(t, "ANTHROPIC_BASE_URL", "http://glm.example")

	r := d.launch("glmm")
	if r.code != 2 || r.stdout != "" || len(d.calls()) != 2 {
		t.Errorf("%+v", r)
	}
	contains(t, r.stderr, "glmm", "glm, kimi")
}

func TestRuling416ProviderSettings(t *testing.T) {
	d := newDesk(t)
	path := d.claude("settings.json")
	const own = `{"theme": "dark", "permissions": {"allow": ["Bash"]}}` + "\n"
	spill(t, path, own)
	spill(t, d.claude("ccc.json"), twoProviders)
	d.set("GLM_TOKEN=glm-token-5678")
	check := func(when, want string) {
		t.Helper()
		var got, wanted any
		check(t, json.Unmarshal([]byte(slurp(t, path)), &got))
		check(t, json.Unmarshal([]byte(want), &wanted))
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	d.starts("glm")
	check("glm", `{"theme":"dark","permissions":{"allow":["Bash"],"defaultMode":"plan"},"statusLine":{"type":"command","command":"glm"}}`)
	d.starts("kimi")
	check("kimi", `{"theme":"dark","permissions":{"allow":["Bash"],"defaultMode":"default"}}`)
	spill(t, path, strings.Replace(slurp(t, path), `"default"`, `"acceptEdits"`, 1)) // by the person
	d.starts("glm")
	check("glm after an edit", `{"theme":"dark","permissions":{"allow":["Bash"],"defaultMode":"acceptEdits"},"statusLine":{"type":"command","command":"glm"}}`)
	spill(t, d.claude("ccc.json"), oneProvider)
	d.starts("glm")
	check("a provider that sets nothing", `{"theme":"dark","permissions":{"allow":["Bash"],"defaultMode":"acceptEdits"}}`)
}

// A settings file's env beats the process's. One that would shadow the provider is
// refused by name, and no value is shown.
func TestRuling416ShadowsAreRefused(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"user", "project", "local"} {
		t.Run(place, func(t *testing.T) {
			d := newDesk(t)
			spill(t, d.claude("ccc.json"), twoProviders)
			d.set("GLM_TOKEN=glm-token-5678")
			path := map[string]string{
				"user": d.claude("settings.json"), "project": d.path(".claude/settings.json"), "local": d.path(".claude/settings.local.json"),
			}[place]
			check(t, os.MkdirAll(filepath.Dir(path), 0o700))
			const text = `{"env":{"ANTHROPIC_API_KEY":"secret-key-value","ANTHROPIC_BASE_URL":"http://shadow.example","SHARED":"glm","OTHER":"x"}}`
			spill(t, path, text)
			r := d.launch("glm")
			if r.code != 2 || r.stdout != "" || len(d.calls()) != 0 || slurp(t, path) != text {
				t.Errorf("%d calls, %+v", len(d.calls()), r)
			}
			contains(t, r.stderr, path, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "providers.glm.env")
			for _, word := range []string{"secret-key-value", "shadow.example", "glm-token", "OTHER", "SHARED"} {
				if strings.Contains(r.stderr, word) {
					t.Errorf("it shows %s: %s", word, r.stderr)
				}
			}
			spill(t, path, `{"env":{"SHARED":"glm","OTHER":"x"}}`)
			d.starts("glm")
		})
	}
}
