package settings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/jsonfile"
)

func TestInspect(t *testing.T) {
	root := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	user, project, local := filepath.Join(root, "user", "settings.json"), filepath.Join(root, ".claude", "settings.json"), filepath.Join(root, ".claude", "settings.local.json")
	put(t, project, `{"disableAllHooks":true,"hooks":{"Stop":[{"matcher":"x","hooks":[{"type":"http","url":"http://h/"},{"type":"command","command":"other","timeout":1}]}]}}`)
	mustInstall(t, project, entry(hook.Stop))
	put(t, project, strings.Replace(get(t, project), `"timeout":1}`, `"timeout":0}`, 1))
	put(t, local, `{"hooks":{},}`)

	files := Inspect(root)
	byPath := map[string]File{}
	for _, f := range files {
		byPath[f.Path] = f
	}
	if f := byPath[user]; f.Scope != User || f.Exists || f.Dropped() {
		t.Errorf("user: %+v", f)
	}
	f := byPath[project]
	if f.Scope != Project || !f.Exists || f.Err != nil || f.Foreign != 2 || !*f.DisableAllHooks {
		t.Errorf("project: %+v", f)
	}
	if diff := cmp.Diff([]Entry{entry(hook.Stop)}, f.Entries); diff != "" {
		t.Error(diff)
	}
	if len(f.Faults) != 1 || f.Faults[0].String() != "1:146: hooks.Stop[0].hooks[1].timeout must be above 0" {
		t.Errorf("project: %v", f.Faults)
	}
	if f := byPath[local]; f.Scope != Local || f.Err == nil || !strings.Contains(f.Err.Error(), local+":1:13: ") {
		t.Errorf("local: %+v", f)
	}
	if files[3].Scope != Managed {
		t.Errorf("the fourth file is %+v", files[3])
	}
	if len(Inspect("")) != len(files)-2 {
		t.Error("outside a project there are project files")
	}
}

func TestInspectTakesTheEnvironment(t *testing.T) {
	root := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	put(t, filepath.Join(root, "user", "settings.json"), `{"env":{"A":"user","B":"user","C":5,"D":"user"}}`)
	put(t, filepath.Join(root, ".claude", "settings.json"), `{"env":{"B":"project"}}`)
	put(t, filepath.Join(root, ".claude", "settings.local.json"), `{"env":{"D":"dropped"},"model":5}`)
	want := map[string]string{"A": "user", "B": "project", "D": "user"}
	if diff := cmp.Diff(want, Environment(Inspect(root))); diff != "" {
		t.Error(diff)
	}
}

func TestInspectNamesWhatSeemsToCallUs(t *testing.T) {
	for command, want := range map[string]bool{
		"FOO=1 stopgate hook Stop":          true,
		`sh -c "stopgate hook Stop"`:        true,
		"env /opt/conclaude Stop || true":   false, // another tool's
		"cd /x; stopgate.exe hook":          true,
		"my-stopgate hook Stop":             false,
		"stopgate log --follow":             false,
		"echo Stop":                         false,
		"stopgate hook Stop":                false, // ours
		"conclaude Stop":                    false, // another tool's
		"/x/stopgate-notify.sh Stop Failed": false,
	} {
		path := settingsPath(t)
		text, _ := json.Marshal(map[string]any{"hooks": map[string]any{"Stop": []any{
			map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}},
		}}})
		put(t, path, string(text))
		if f := inspect(location{User, path}); (len(f.Alike) > 0) != want {
			t.Errorf("%s: %+v", command, f)
		}
	}
}

func TestInspectListsAHomeOnce(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	n := 0
	for _, f := range Inspect(home) {
		if f.Path == filepath.Join(home, ".claude", "settings.json") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("listed %d times", n)
	}
}

func TestInspectTakesADanglingLinkForNoFile(t *testing.T) {
	path := settingsPath(t)
	os.Mkdir(filepath.Dir(path), 0o755)
	environtest.Symlink(t, "nowhere", path)
	if f := inspect(location{Project, path}); f.Exists || f.Dropped() {
		t.Errorf("%+v", f)
	}
}

func TestDisabled(t *testing.T) {
	yes, no := new(true), new(false)
	tests := []struct {
		name  string
		files []File
		by    string
	}{
		{"nothing is said", []File{{Path: "a"}}, ""},
		{"the user says so", []File{{Path: "a", DisableAllHooks: yes}, {Path: "b"}}, "a"},
		{"local takes it back", []File{{Path: "a", DisableAllHooks: yes}, {Path: "b", Scope: Local, DisableAllHooks: no}}, ""},
		{"the file is dropped", []File{{Path: "a", DisableAllHooks: yes, Faults: []jsonfile.Fault{{}}}}, ""},
		{"managed beats local", []File{{Path: "a", DisableAllHooks: yes}, {Path: "b", Scope: Managed, DisableAllHooks: no}}, ""},
		{"managed with faults counts", []File{{Path: "b", Scope: Managed, DisableAllHooks: yes, Faults: []jsonfile.Fault{{}}}}, "b"},
		{"managed hooks only", []File{{Path: "a"}, {Path: "b", Scope: Managed, ManagedHooksOnly: true}}, "b"},
	}
	for _, tt := range tests {
		if by, disabled := Disabled(tt.files); disabled != (tt.by != "") || by.Path != tt.by {
			t.Errorf("%s: %v by %q", tt.name, disabled, by.Path)
		}
	}
}

func TestScopes(t *testing.T) {
	t.Setenv("CLAUDE_CONFIG_DIR", "/c")
	for scope, want := range map[Scope]string{
		User: "/c/settings.json", Project: "/r/.claude/settings.json", Local: "/r/.claude/settings.local.json",
	} {
		got, err := Path(scope, "/r")
		if err != nil || filepath.ToSlash(strings.TrimPrefix(got, filepath.VolumeName(got))) != want {
			t.Errorf("%v: %q, %v", scope, got, err)
		}
	}
	if _, err := Path(Local, ""); err == nil {
		t.Error("a local file without a project")
	}
	if _, err := Path(Scope(9), "/r"); err == nil {
		t.Error("a file for an unknown scope")
	}
}

// The supervisor's entries are ours, but not those that hooks are installed as.
func TestInspectTellsTheSupervisorApart(t *testing.T) {
	path := settingsPath(t, `{"hooks":{"Stop":[{"hooks":[
		{"type":"command","command":"/x/hook/stopgate supervisor-hook","timeout":70},
		{"type":"command","command":"other"},
		{"type":"command","command":"stopgate hook Stop"}]}]}}`)
	f := inspect(location{User, path})
	if len(f.Entries) != 1 || len(f.Supervisor) != 1 || f.Supervisor[0].Timeout != 70*time.Second || f.Foreign != 1 || len(f.Alike) != 0 {
		t.Errorf("%+v", f)
	}
	if got := InForce([]File{f}); len(got) != 1 || got[0].Command != "stopgate hook Stop" {
		t.Errorf("in force is %+v", got)
	}
}

func TestUnified(t *testing.T) {
	const ours = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate","args":["hook","Stop"]}]}]}}`
	for _, tt := range []struct {
		name, user, project, local string
		want                       bool
	}{
		{"nothing", "", "", "", false},
		{"user", ours, "", "", true},
		{"project", "", ours, "", true},
		{"local", "", "", ours, true},
		{"another tool", "", strings.Replace(ours, `"stopgate","args":["hook","Stop"]`, `"conclaude Stop"`, 1), "", false},
		{"a program that is gone", "", strings.Replace(ours, `"stopgate",`, `"/gone/stopgate",`, 1), "", false},
		{"another program of that name", "", strings.Replace(ours, `"stopgate",`, `"/bin/stopgate",`, 1), "", false},
		{"another event", strings.Replace(ours, "Stop", "SubagentStop", 1), "", "", false},
		{"the supervisor alone", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"ccc supervisor-hook"}]}]}}`, "", "", false},
		{"the gates alone", `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate stop-hook"}]}]}}`, "", "", false},
		{"spoilt", strings.Replace(ours, `"command",`, `"command","async":true,`, 1), "", "", false},
		{"spoilt here, not there", strings.Replace(ours, `"command",`, `"command","if":"x",`, 1), ours, "", true},
		{"dropped", strings.Replace(ours, `{"hooks"`, `{"model":5,"hooks"`, 1), "", "", false},
		{"dropped, but another is not", strings.Replace(ours, `{"hooks"`, `{"model":5,"hooks"`, 1), "", ours, true},
		{"no JSON", ours + "}", "", "", false},
		{"switched off", ours, "", `{"disableAllHooks":true}`, false},
		{"switched on again", strings.Replace(ours, `{"hooks"`, `{"disableAllHooks":true,"hooks"`, 1), "", `{"disableAllHooks":false}`, true},
	} {
		root := t.TempDir()
		t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
		for path, text := range map[string]string{
			"user/settings.json": tt.user, "p/.claude/settings.json": tt.project, "p/.claude/settings.local.json": tt.local,
		} {
			if text != "" {
				put(t, filepath.Join(root, filepath.FromSlash(path)), text)
			}
		}
		if got := Unified("", filepath.Join(root, "p")); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	root := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(root, "user"))
	put(t, filepath.Join(root, ".claude", "settings.json"), ours)
	if Unified("") || Unified("", "", filepath.Join(root, "elsewhere")) {
		t.Error("unified where nothing says so")
	}
	if !Unified("", "", filepath.Join(root, "elsewhere"), root) {
		t.Error("one of several directories is not enough")
	}
}

// A managed file that allows its own hooks alone switches off the others', and not its own.
func TestManagedHooksOnlyCallsThose(t *testing.T) {
	user, only := File{Path: "u", Scope: User}, File{Path: "m", Scope: Managed, ManagedHooksOnly: true}
	none := File{Path: "m", Scope: Managed, DisableAllHooks: new(true)}
	for name, tt := range map[string]struct {
		f, managed File
		want       bool
	}{
		"a managed file's own": {only, only, true},
		"the user's beside it": {user, only, false},
		"of one that has none": {none, none, false},
	} {
		if got := tt.f.Calls([]File{user, tt.managed}); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
