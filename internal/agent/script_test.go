package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A session is found wherever the client may keep it: a second start under the id of one
// that is there would end at once.
func TestTranscriptIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		at   string   // the client's directory
		env  []string // with @ for where everything is
		want bool
	}{
		"at home":            {"home/.claude", nil, true},
		"in its own":         {"own", []string{"CLAUDE_CONFIG_DIR=@/own"}, true},
		"in that of ccc":     {"ccc", []string{"CCC_CONFIG_DIR=@/ccc"}, true},
		"below the cwd":      {"cwd/mine", []string{"CLAUDE_CONFIG_DIR=mine"}, true},
		"where nobody looks": {"elsewhere", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			env := []string{"HOME=" + filepath.Join(root, "home")}
			for _, entry := range test.env {
				env = append(env, strings.ReplaceAll(entry, "@", root))
			}
			dir := filepath.Join(root, filepath.FromSlash(test.at), "projects", "-p")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "s1.jsonl"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := hasTranscript("s1", filepath.Join(root, "cwd"), env); got != test.want {
				t.Errorf("found: %t", got)
			}
			if hasTranscript("s2", filepath.Join(root, "cwd"), env) {
				t.Error("one that is not there was found")
			}
		})
	}
}
