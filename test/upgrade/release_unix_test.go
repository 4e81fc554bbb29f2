//go:build unix

package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A release is cut from the changelog by one command, or nothing happens and it says why.
func TestIssue19AReleaseIsCutFromTheChangelog(t *testing.T) {
	script, err := os.ReadFile("../../scripts/release")
	check(t, err)
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "scripts"), 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "scripts", "release"), script, 0o755))
	changelog := filepath.Join(dir, "CHANGELOG.md")
	check(t, os.WriteFile(changelog, []byte("# Changelog\n\n## Unreleased\n\n- The #1 thing.\n- Another.\n\n## 0.1.0 (2026-01-01)\n\n- Old.\n"), 0o644))
	plugin := filepath.Join(dir, "plugin", ".claude-plugin", "plugin.json")
	check(t, os.MkdirAll(filepath.Dir(plugin), 0o755))
	check(t, os.WriteFile(plugin, []byte("{\n  \"name\": \"stopgate\",\n  \"version\": \"0.1.0\"\n}\n"), 0o644))
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	git := func(args ...string) string {
		out, err := run(append([]string{"git"}, args...)...)
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(out)
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "begin")
	git("tag", "v0.1.0")
	refused := func(why string, args ...string) {
		t.Helper()
		before := git("rev-parse", "HEAD") + git("tag") + git("status", "--porcelain")
		out, err := run(append([]string{"scripts/release"}, args...)...)
		if err == nil || !strings.Contains(out, why) || git("rev-parse", "HEAD")+git("tag")+git("status", "--porcelain") != before {
			t.Errorf("%v: %v, %s, want %q and nothing done", args, err, out, why)
		}
	}
	refused("must be like 1.2.3")
	refused("must be like 1.2.3", "v0.2.0")
	refused("must be like 1.2.3", "0.2.0; rm x")
	refused("a v0.1.0 already", "0.1.0")
	refused("older than v0.1.0", "0.0.9")
	git("switch", "-qc", "other")
	refused("on main", "0.2.0")
	git("switch", "-q", "main")
	check(t, os.WriteFile(filepath.Join(dir, "stray"), nil, 0o644))
	refused("has changes", "0.2.0")
	check(t, os.Remove(filepath.Join(dir, "stray")))

	if out, err := run("scripts/release", "0.2.0"); err != nil || !strings.Contains(out, "git push origin main v0.2.0") {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(changelog)
	check(t, err)
	if !strings.HasPrefix(string(text), "# Changelog\n\n## Unreleased\n\n## 0.2.0 (20") || !strings.Contains(string(text), ")\n\n- The #1 thing.\n- Another.\n\n## 0.1.0") {
		t.Errorf("%s", text)
	}
	if text, err := os.ReadFile(plugin); err != nil || !strings.Contains(string(text), `"version": "0.2.0"`) {
		t.Errorf("the plugin: %s, %v", text, err)
	}
	if got := git("tag", "-l", "--format=%(contents)", "v0.2.0"); got != "stopgate 0.2.0\n\n- The #1 thing.\n- Another." {
		t.Errorf("the tag says %q", got)
	}
	if git("log", "-1", "--format=%s") != "release: v0.2.0" || git("describe") != "v0.2.0" {
		t.Error(git("log", "-1"))
	}
	refused("nothing under", "0.3.0")

	for _, version := range []string{"0.3.0-rc.1", "0.3.0-rc.2", "0.3.0"} { // a candidate comes before its release
		text, err := os.ReadFile(changelog)
		check(t, err)
		check(t, os.WriteFile(changelog, []byte(strings.Replace(string(text), "## Unreleased\n", "## Unreleased\n\n- More.\n", 1)), 0o644))
		git("commit", "-qam", "more")
		if out, err := run("scripts/release", version); err != nil {
			t.Fatalf("%s: %v: %s", version, err, out)
		}
	}
	refused("older than v0.3.0", "0.3.0-rc.3")
}
