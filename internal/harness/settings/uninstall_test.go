package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

func TestUninstallRemovesWhatInstallMade(t *testing.T) {
	path := settingsPath(t)
	mustInstall(t, path, entry(hook.Stop))
	if changed := mustInstall(t, path, entry(hook.Stop), entry(hook.SubagentStop)); !changed {
		t.Error("an added event is no change")
	}
	if !mustUninstall(t, path) {
		t.Error("not reported as a change")
	}
	if exists(filepath.Dir(path)) {
		t.Error("the directory is still there")
	}
	if mustUninstall(t, path) {
		t.Error("a missing file was changed")
	}

	mustInstall(t, path, entry(hook.Stop))
	put(t, filepath.Join(filepath.Dir(path), "other.json"), "{}")
	mustUninstall(t, path)
	if exists(path) || !exists(filepath.Dir(path)) {
		t.Error("the file should go, the directory with a foreign file should stay")
	}
}

func TestUninstallKeepsEditsMadeMeanwhile(t *testing.T) {
	tests := []struct{ name, before, edit, with, after string }{
		{
			"a key is added", "{\n  \"a\": 1\n}\n",
			"\"a\": 1,", "\"a\": 1,\n  \"model\": \"x\",",
			"{\n  \"a\": 1,\n  \"model\": \"x\"\n}\n",
		},
		{
			"a hook is added beside ours", "{\"a\":1}",
			`"timeout":1200}]`, `"timeout":1200},{"type":"command","command":"mine"}]`,
			`{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`,
		},
		{
			"hooks and event that were empty stay", "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}",
			"{\n  \"hooks\"", "{\n  \"a\": 1,\n  \"hooks\"",
			"{\n  \"a\": 1,\n  \"hooks\": {\n    \"Stop\": []\n  }\n}",
		},
		{
			"hooks that was empty stays, the event goes", `{"hooks":{}}`,
			`{"hooks"`, `{"a":1,"hooks"`,
			`{"a":1,"hooks":{}}`,
		},
		{
			"an empty group of others stays", `{"hooks":{"Stop":[{"hooks":[]}]}}`,
			`{"hooks":{`, `{"a":1,"hooks":{`,
			`{"a":1,"hooks":{"Stop":[{"hooks":[]}]}}`,
		},
		{
			"our timeout was edited", `{"a": 1}`,
			"1200", "77",
			`{"a": 1}`,
		},
		{
			"everything else was deleted", `{"a": 1}`,
			`"a": 1, `, "",
			`{}`,
		},
		{
			"space before a comma", `{"a": 1}`,
			`1, "hooks"`, `1 , "hooks"`,
			`{"a": 1}`,
		},
		{
			"ours became the first", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`,
			`[{"hooks": [{"type": "command", "command": "a"}]}, `, `[{"hooks": [{"type": "command", "command": "stopgate hook Stop"}]}, {"hooks": [{"type": "command", "command": "a"}]}, `,
			`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := settingsPath(t, tt.before)
			mustInstall(t, path, entry(hook.Stop))
			edited := strings.Replace(get(t, path), tt.edit, tt.with, 1)
			if edited == get(t, path) {
				t.Fatalf("nothing to edit in\n%s", edited)
			}
			put(t, path, edited)
			mustUninstall(t, path)
			same(t, "uninstalled", get(t, path), tt.after)
			if exists(path + ".stopgate-backup") {
				t.Error("the backup was left behind")
			}
		})
	}
}

func TestUninstallWithoutABackup(t *testing.T) {
	path := settingsPath(t, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"\"/a b/stopgate\" hook Stop"}]}],"PreToolUse":[]},"b":2}`)
	mustUninstall(t, path)
	same(t, "uninstalled", get(t, path), `{"hooks":{"PreToolUse":[]},"b":2}`)
}

func TestUninstallOfNothing(t *testing.T) {
	path := settingsPath(t, "{ \"hooks\" : {\"Stop\":[] }}")
	when := old(t, path)
	put(t, path+".stopgate-backup", "{}")
	if mustUninstall(t, path) {
		t.Error("changed")
	}
	info, _ := os.Stat(path)
	if !info.ModTime().Equal(when) {
		t.Error("written")
	}
	if exists(path + ".stopgate-backup") {
		t.Error("a backup of no use was kept")
	}
}

// Whoever ends up with our entries in the backup still gets rid of them.
func TestUninstallDoesNotTrustTheBackup(t *testing.T) {
	path := settingsPath(t, `{"a": 1}`)
	mustInstall(t, path, entry(hook.Stop))
	for _, backup := range []string{get(t, path), `{"hooks":{"Stopp":5}}`, "{", "[]"} {
		put(t, path+".stopgate-backup", backup)
		mustUninstall(t, path)
		if n := len(entriesIn(path)); n != 0 {
			t.Errorf("with the backup %s %d entries are left", backup, n)
		}
		mustInstall(t, path, entry(hook.Stop))
	}
}

func TestUninstallLeavesALinkInPlace(t *testing.T) {
	path := settingsPath(t)
	target := filepath.Join(t.TempDir(), "claude.json")
	put(t, target, `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"stopgate hook"}]}]}}`)
	os.Mkdir(filepath.Dir(path), 0o755)
	environtest.Symlink(t, target, path)
	mustUninstall(t, path)
	same(t, "target", get(t, target), "{}\n")
	if _, err := os.Readlink(path); err != nil {
		t.Error(err)
	}
}

// A status line that a person wrote stays, also where there are no hooks of ours to take out.
func TestUninstallLeavesAStatusLineAlone(t *testing.T) {
	const mine = `{"statusLine":{"type":"command","command":"stopgate statusline"}}`
	path := settingsPath(t, mine)
	if mustUninstall(t, path) {
		t.Error("reported as a change")
	}
	same(t, "uninstalled", get(t, path), mine)
}
