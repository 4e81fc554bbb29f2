package settings

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/sys/checktest"
)

// Whether stops reach stopgate is told by another program than the one that the entries call, as the
// daemon is.
func TestIssue18ReachOfSettings(t *testing.T) {
	const entry = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "%s"}]}]}%s}`
	for _, test := range []struct {
		name, project, local string
		scopes               int
		why                  string
	}{
		{"nothing", "", "", 0, ""},
		{"a bare name", strings.Replace(strings.Replace(entry, "%s", "stopgate hook", 1), "%s", "", 1), "", 1, ""},
		{"a path that is gone", strings.Replace(strings.Replace(entry, "%s", "/nowhere/stopgate hook", 1), "%s", "", 1), "", 0, "which is not there"},
		{"switched off", strings.Replace(strings.Replace(entry, "%s", "stopgate hook", 1), "%s", "", 1), `{"disableAllHooks": true}`, 0, "switches all hooks off"},
		{"faults", strings.Replace(strings.Replace(entry, "%s", "stopgate hook", 1), "%s", `, "env": 7`, 1), "", 0, "which has faults"},
		{"no JSON", "{", "", 0, "cannot be read"},
		{"of another tool", strings.Replace(strings.Replace(entry, "%s", "other hook", 1), "%s", "", 1), "", 0, ""},
	} {
		home, root := t.TempDir(), t.TempDir()
		t.Setenv("HOME", home)
		t.Setenv("CLAUDE_CONFIG_DIR", "")
		t.Setenv("PATH", home)
		if test.project != "" {
			checktest.Write(t, filepath.Join(root, ".claude", "settings.json"), test.project)
		}
		if test.local != "" {
			checktest.Write(t, filepath.Join(root, ".claude", "settings.local.json"), test.local)
		}
		r := ReachOf(root)
		if len(r.Scopes) != test.scopes || !strings.Contains(r.Why, test.why) || test.why == "" && r.Why != "" {
			t.Errorf("%s: %+v", test.name, r)
		}
	}
}
