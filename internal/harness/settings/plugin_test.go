package settings

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/hook"
)

var update = flag.Bool("update", false, "write the hooks of the plugin anew")

// pluginDir is the plugin that our repository has.
const pluginDir = "../../../plugin"

// The plugin's entries are those that hooks install writes into a file that others use too.
func TestIssue19PluginHooksAreWhatIsInstalled(t *testing.T) {
	plan := Plan(Program, nil, nil, 0)
	path := filepath.Join(pluginDir, "hooks", "hooks.json")
	if *update {
		writePluginHooks(t, path, plan)
	}
	installed := settingsPath(t)
	mustInstall(t, installed, plan...)

	byEvent := func(entries []Entry) []Entry {
		slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(string(a.Event), string(b.Event)) })
		return entries
	}
	got, want := byEvent(entriesIn(path)), byEvent(entriesIn(installed))
	if diff := cmp.Diff(want, got); diff != "" || len(got) != len(plan) {
		t.Errorf("run: go test ./internal/harness/settings -run Issue19 -update (-installed +plugin):\n%s", diff)
	}
	if f := inspect(location{Plugin, path}); f.Dropped() || f.Foreign > 0 {
		t.Errorf("faults %v, %v; %d entries of others", f.Err, f.Faults, f.Foreign)
	}
}

func writePluginHooks(t *testing.T, path string, plan []Entry) {
	t.Helper()
	hooks := map[hook.Event][]groupJSON{}
	for _, e := range plan {
		hooks[e.Event] = append(hooks[e.Event], groupOf(e))
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	check(t, encoder.Encode(map[string]any{"description": "The hooks that stopgate hooks install writes. Written by a test.", "hooks": hooks}))
	put(t, path, text.String())
}

// clientHome is a home with the plugin installed from a marketplace, as Claude Code 2.1.197 leaves it.
type clientHome struct {
	t             *testing.T
	dir, project  string
	cached, local string // the folders that a plugin may be loaded from
}

func newClientHome(t *testing.T) *clientHome {
	t.Helper()
	h := &clientHome{t: t, dir: t.TempDir(), project: t.TempDir(), local: t.TempDir()}
	h.cached = filepath.Join(h.dir, "plugins", "cache", "market", "stopgate", "0.1.0")
	t.Setenv("CLAUDE_CONFIG_DIR", h.dir)
	hooks := get(t, filepath.Join(pluginDir, "hooks", "hooks.json"))
	put(t, filepath.Join(h.cached, "hooks", "hooks.json"), hooks)
	put(t, filepath.Join(h.local, "sub", "hooks", "hooks.json"), hooks)
	put(t, filepath.Join(h.local, ".claude-plugin", "marketplace.json"), `{"plugins":[{"name":"other","source":{"source":"github"}},{"name":"stopgate","source":"./sub"}]}`)
	h.market("github")
	h.installed("user", "")
	return h
}

// market makes the marketplace one of a kind.
func (h *clientHome) market(kind string) {
	put(h.t, filepath.Join(h.dir, "plugins", "known_marketplaces.json"), fmt.Sprintf(`{"market":{"source":{"source":%q},"installLocation":%q}}`, kind, h.local))
}

// installed writes down that the plugin is installed in a scope.
func (h *clientHome) installed(scope, project string) {
	text, err := json.Marshal(map[string]any{"version": 2, "plugins": map[string]any{
		"stopgate@market": []map[string]string{{"scope": scope, "installPath": h.cached, "projectPath": project}},
		"other@market":    []map[string]string{{"scope": "user", "installPath": "/nowhere"}},
	}})
	check(h.t, err)
	put(h.t, filepath.Join(h.dir, "plugins", "installed_plugins.json"), string(text))
}

// enabled is a settings file that says something about the plugin.
func enabled(value string) string { return `{"enabledPlugins":{"stopgate@market":` + value + `}}` }

func (h *clientHome) settings(user, project, local string) {
	for name, text := range map[string]string{
		filepath.Join(h.dir, "settings.json"):                      user,
		filepath.Join(h.project, ".claude", "settings.json"):       project,
		filepath.Join(h.project, ".claude", "settings.local.json"): local,
	} {
		if text != "" {
			put(h.t, name, text)
		}
	}
}

// Of a plugin the last settings file that says true, false or a list decides, as the real client was seen to do.
func TestIssue19PluginIsEnabledBySettings(t *testing.T) {
	for _, tt := range []struct {
		name, user, project, local string
		calls                      bool
		why, help                  string
	}{
		{"user", enabled("true"), "", "", true, "", ""},
		{"project", "", enabled("true"), "", true, "", ""},
		{"local", "", enabled("false"), enabled("true"), true, "", ""},
		{"nothing said", "{}", "", "", false, "is installed, but not enabled", "claude plugin enable stopgate@market"},
		{"disabled", enabled("false"), "", "", false, "is disabled in ", "claude plugin enable stopgate@market"},
		{"disabled here", enabled("true"), "", enabled("false"), false, "settings.local.json", "claude plugin enable stopgate@market --scope local"},
		{"disabled for the team", enabled("true"), enabled("false"), "", false, "is disabled in ", "claude plugin enable stopgate@market --scope project"},
		{"a list of versions", enabled("true"), enabled(`["0.1.0"]`), "", false, "is disabled in ", "claude plugin enable stopgate@market --scope project"},
		{"a string", enabled("true"), enabled(`"no"`), "", true, "", ""},
		{"null", enabled("true"), enabled("null"), "", true, "", ""},
		{"a file that the client drops", enabled("true"), `{"model":5,"enabledPlugins":{"stopgate@market":false}}`, "", true, "", ""},
		{"hooks off", enabled("true"), `{"disableAllHooks":true}`, "", false, "switches all hooks off", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newClientHome(t)
			h.settings(tt.user, tt.project, tt.local)
			r, files := ReachOf(h.project), Inspect(h.project)
			if calls := slices.Equal(r.Scopes, []Scope{Plugin}); calls != tt.calls || !strings.Contains(r.Why, tt.why) || tt.why == "" && r.Why != "" || r.Help != tt.help {
				t.Errorf("%+v", r)
			}
			if calls := len(InForce(files)) == len(standard); calls != tt.calls || Unified("", h.project) != tt.calls {
				t.Errorf("entries in force: %t", calls)
			}
			if _, asleep := Asleep(files); asleep != (tt.help != "") {
				t.Errorf("asleep: %t", asleep)
			}
		})
	}
}

// Where the plugin lies, and for which project it was installed.
func TestIssue19PluginIsFound(t *testing.T) {
	h := newClientHome(t)
	h.settings(enabled("true"), "", "")
	found := func() string {
		for _, f := range Inspect(h.project) {
			if f.Plugin == "stopgate@market" {
				return strings.TrimSuffix(f.Path, filepath.Join("hooks", "hooks.json"))
			}
		}
		return ""
	}
	want := func(what, folder string) {
		t.Helper()
		if got := found(); filepath.Clean(got) != filepath.Clean(folder) {
			t.Errorf("%s: %q, want %q", what, got, folder)
		}
	}
	want("a copy", h.cached)
	h.market("directory")
	want("a directory", filepath.Join(h.local, "sub"))
	h.installed("project", filepath.Join(h.dir, "elsewhere"))
	want("enabled here, installed for another project", filepath.Join(h.local, "sub"))
	h.settings("{}", "", "")
	want("installed for another project alone", "")
	h.installed("project", h.project)
	want("installed for this project", filepath.Join(h.local, "sub"))
	put(t, filepath.Join(h.dir, "plugins", "known_marketplaces.json"), "{}")
	h.settings(enabled("true"), "", "")
	want("the marketplace is not known", "")
	put(t, filepath.Join(h.dir, "plugins", "installed_plugins.json"), `{"plugins":[`)
	want("damaged", "")
}

// A client that is started below the project does not read the file that enables the plugin.
func TestIssue19PluginOutOfReach(t *testing.T) {
	h := newClientHome(t)
	h.installed("project", h.project)
	h.settings("", enabled("true"), "")
	sub := filepath.Join(h.project, "sub")
	check(t, os.Mkdir(sub, 0o755))
	unread, found := OutOfReach(sub, h.project)
	if !found || !strings.Contains(unread.String(), filepath.Join(h.project, ".claude", "settings.json")) {
		t.Errorf("%t, %v", found, unread)
	}
	if calls := len(InForce(Inspect(sub))); calls != 0 {
		t.Errorf("%d entries in force below", calls)
	}
}

// Of the plugins that call us ours is the one with our name, and it calls us only where no file switches hooks off.
func TestIssue19WhichPluginCalls(t *testing.T) {
	for manifest, ours := range map[string]bool{`{"name":"stopgate"}`: true, `{"name":"other"}`: false, `{"name":""}`: false, `{`: false} {
		folder := t.TempDir()
		put(t, filepath.Join(folder, ".claude-plugin", "plugin.json"), manifest)
		if IsOurPlugin(folder) != ours {
			t.Errorf("%s: ours is %t", manifest, !ours)
		}
	}
	if IsOurPlugin("") || IsOurPlugin(t.TempDir()) {
		t.Error("a folder without a manifest is our plugin")
	}

	h := newClientHome(t)
	plain := filepath.Join(h.cached, "hooks", "hooks.json")
	put(t, plain, strings.ReplaceAll(get(t, plain), `"command": "`+Program+" ", `"command": "`+living+" "))
	for project, calls := range map[string]bool{`{}`: true, `{"disableAllHooks":true}`: false, enabled("false"): false} {
		h.settings(enabled("true"), project, "")
		if _, got := CallingPlugin(Inspect(h.project)); got != calls {
			t.Errorf("%s: calls is %t", project, got)
		}
	}
}

// The commands that we name lead to the scope that the plugin was installed in.
func TestIssue19PluginCommands(t *testing.T) {
	h := newClientHome(t)
	h.installed("project", h.project)
	h.settings("", enabled("true"), "")
	files := Inspect(h.project)
	f := files[len(files)-1]
	for got, want := range map[string]string{
		f.Remove():  "cd " + ShellCommand(h.project) + " && claude plugin uninstall stopgate@market --scope project",
		f.Renew():   "claude plugin update stopgate@market --scope project",
		f.Disable(): "claude plugin disable stopgate@market --scope local",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if r := ReachOf(h.project); r.Where() != "by the plugin" {
		t.Errorf("where: %q", r.Where())
	}
	h.settings(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook Stop"}]}]}}`, "", "")
	if r := ReachOf(h.project); r.Where() != "in the user settings and by the plugin" {
		t.Errorf("where: %q", r.Where())
	}
}

// An agent that the daemon starts gets no entries besides those of the plugin.
func TestIssue19AgentsUseThePlugin(t *testing.T) {
	h := newClientHome(t)
	agent := Agent{Program: living, Dir: h.project, ConfigDir: h.dir}
	hooks := func() int {
		text, err := agent.File()
		check(t, err)
		var file struct{ Hooks map[string]any }
		check(t, json.Unmarshal(text, &file))
		return len(file.Hooks)
	}
	if n := hooks(); n != len(standard) {
		t.Errorf("%d events while the plugin is not enabled", n)
	}
	h.settings(enabled("true"), "", "")
	if n := hooks(); n != 0 {
		t.Errorf("%d events beside the plugin", n)
	}
}
