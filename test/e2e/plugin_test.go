//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/test/claudeapi"
)

// pluginID is what people call the plugin of our repository by.
const pluginID = "stopgate@stopgate"

// repository is the marketplace that people add.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	check(t, err)
	return root
}

// InstallPlugin installs the plugin as people do.
func (b *bench) InstallPlugin(t *testing.T) {
	t.Helper()
	b.Exec("claude", "plugin", "marketplace", "add", repository(t)).mustPass(t)
	b.Exec("claude", "plugin", "install", pluginID).mustPass(t)
}

// SeedPlugin leaves what InstallPlugin leaves, without two starts of the client.
func (b *bench) SeedPlugin(t *testing.T, scope string) {
	t.Helper()
	settings, record := filepath.Join(b.Home, ".claude", "settings.json"), map[string]any{"scope": scope, "installPath": filepath.Join(repository(t), "plugin")}
	if scope == "project" {
		settings, record["projectPath"] = filepath.Join(b.Project, ".claude", "settings.json"), b.Project
	}
	b.writeJSON(settings, map[string]any{"enabledPlugins": map[string]any{pluginID: true}})
	plugins := filepath.Join(b.Home, ".claude", "plugins")
	b.writeJSON(filepath.Join(plugins, "installed_plugins.json"), map[string]any{"version": 2, "plugins": map[string]any{pluginID: []any{record}}})
	b.writeJSON(filepath.Join(plugins, "known_marketplaces.json"), map[string]any{"stopgate": map[string]any{
		"source":          map[string]any{"source": "directory", "path": repository(t)},
		"installLocation": repository(t), "lastUpdated": "2026-01-02T12:00:00.000Z",
	}})
}

// countedUntilFixed writes a line for each time that it runs.
const countedUntilFixed = `hooks:
  Stop:
    - run: echo >>"$TMPDIR/runs"; test -e fixed
      message: fix it first
`

// counted is how often the command of countedUntilFixed has run.
func (b *bench) counted() int {
	text, _ := os.ReadFile(filepath.Join(b.Tmp, "runs"))
	return strings.Count(string(text), "\n")
}

func TestIssue19PluginIsValid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, dir := range []string{repository(t), filepath.Join(repository(t), "plugin")} {
		b.Exec("claude", "plugin", "validate", "--strict", dir).mustPass(t)
	}
}

// From the marketplace to the end: a red stop is blocked, a green one allowed, and after the plugin was
// removed none is judged.
func TestIssue19PluginBlocksUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.InstallPlugin(t)
	b.Write(".gauntlet/config.yml", countedUntilFixed)
	if out := b.Stopgate("init", "--yes").mustPass(t).Stdout; !strings.Contains(out, "left the hooks to the plugin "+pluginID) {
		t.Errorf("init says\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(b.Project, ".claude")); err == nil {
		t.Error("init wrote settings beside the plugin")
	}
	b.API.Script(claudeapi.Text("Finished."), bash("touch fixed"), claudeapi.Text("Fixed."))
	h := b.Run("do it")
	requests := b.API.Requests()
	if h.Code != 0 || h.Reply().Text != "Fixed." || len(requests) != 3 || !strings.HasPrefix(requests[1].LastUserText(), "Stop hook feedback:\nfix it first") {
		t.Errorf("exit %d, %+v, %d requests\n%s", h.Code, h.Reply(), len(requests), h.Stderr)
	}
	b.wantAnswers("Stop", "block guard:failed", "allow guard:passed")

	b.Stopgate("doctor").mustPass(t)
	b.API.Script(claudeapi.Text("All is well."))
	b.Run("/stopgate:status")
	if text := b.API.Requests()[3].LastUserText(); !strings.Contains(text, "by the plugin") {
		t.Errorf("the slash command gave the model %q", text)
	}

	b.Exec("claude", "plugin", "uninstall", pluginID).mustPass(t)
	check(t, os.Remove(filepath.Join(b.Project, "fixed")))
	before := b.counted()
	b.API.Script(claudeapi.Text("Finished again."))
	if h := b.Run("do it again"); h.Reply().Text != "Finished again." || b.counted() != before {
		t.Errorf("%+v, the command ran %d times more", h.Reply(), b.counted()-before)
	}
	if out := b.Stopgate("hooks", "status").Stdout; !strings.Contains(out, "the hooks are not installed") {
		t.Errorf("hooks status says\n%s", out)
	}
}

// With the plugin and the hooks in a settings file each stop is judged once: the client calls both, though
// their lines are equal, and the second adopts the first one's answer.
func TestIssue19PluginBesideInstalledHooks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Write(".gauntlet/config.yml", countedUntilFixed)
	b.Stopgate("hooks", "install", "--project", "--yes").mustPass(t)
	b.SeedPlugin(t, "user")
	b.API.Script(claudeapi.Text("Finished."), bash("touch fixed"), claudeapi.Text("Fixed."))
	if h := b.Run("do it"); h.Reply().Text != "Fixed." {
		t.Errorf("%+v\n%s", h.Reply(), h.Stderr)
	}
	got := statuses(b.Answers("Stop"))
	want := []string{"allow chain:adopted", "allow guard:passed", "block chain:adopted", "block guard:failed"}
	// A call that begins only when the other one has let the agent go looks at the work once more.
	if slices.Sort(got); !slices.Equal(got, want) || b.counted() < 2 || b.counted() > 3 {
		t.Errorf("answers %q, %d runs", got, b.counted())
	}
	if out := b.Stopgate("doctor").mustPass(t).Stdout; !strings.Contains(out, "claude plugin disable "+pluginID) {
		t.Errorf("doctor says\n%s", out)
	}
}

// A person who has the plugin and not the program is told once how to install it, and nothing fails.
func TestIssue19PluginWithoutStopgate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.SeedPlugin(t, "user")
	b.withoutStopgate()
	b.API.Script(claudeapi.Always(claudeapi.Text("Finished.")))
	for i, want := range []int{1, 0} {
		h := b.Run("do it")
		told := 0
		for _, event := range lifeEvents {
			for _, run := range h.Hooks(event) {
				if told += strings.Count(run.Stdout, "go install github.com/stopgate/stopgate"); run.Outcome != "success" {
					t.Errorf("%+v", run)
				}
			}
		}
		if told != want {
			t.Errorf("session %d: told %d times, want %d", i+1, told, want)
		}
	}
}

// Whatever is done to the plugin: doctor calls it live if, and only if, the real client is blocked by it.
func TestIssue19DoctorAgreesWithTheClientOnPlugins(t *testing.T) {
	t.Parallel()
	claude := func(args ...string) func(*testing.T, *bench) {
		return func(t *testing.T, b *bench) { b.Exec("claude", append([]string{"plugin"}, args...)...).mustPass(t) }
	}
	inFolder := func(t *testing.T, b *bench) {
		b.Project = filepath.Join(b.Project, "sub")
		check(t, os.Mkdir(b.Project, 0o700))
	}
	for name, tt := range map[string]struct {
		scope string
		harm  func(*testing.T, *bench)
		live  bool
		says  string
	}{
		"disabled":                   {"user", claude("disable", pluginID), false, "claude plugin enable " + pluginID},
		"disabled here":              {"user", claude("disable", pluginID, "--scope", "local"), false, "claude plugin enable " + pluginID + " --scope local"},
		"the user's, in a folder":    {"user", inFolder, true, ""},
		"the project's":              {"project", func(*testing.T, *bench) {}, true, ""},
		"the project's, in a folder": {"project", inFolder, false, "Claude Code does not read "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.SeedPlugin(t, tt.scope)
			b.Guard(untilFixed)
			tt.harm(t, b)
			doctor := b.Stopgate("doctor")
			b.Run("do it")
			blocked := slices.ContainsFunc(b.API.Requests(), func(r claudeapi.Request) bool {
				return strings.HasPrefix(r.LastUserText(), "Stop hook feedback:\nfix it first")
			})
			if live := doctor.Code == 0; live != blocked || live != tt.live || !strings.Contains(doctor.Stdout+doctor.Stderr, tt.says) {
				t.Errorf("the client was blocked: %t; doctor says live: %t\n%s%s", blocked, live, doctor.Stdout, doctor.Stderr)
			}
			if out := b.Stopgate("status").Stdout; strings.Contains(out, "not installed") {
				t.Errorf("status says\n%s", out)
			}
		})
	}
}
