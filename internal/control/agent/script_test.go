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
		at   string // the client's directory
		run  string
		env  []string // with @ for where everything is
		want bool
	}{
		"at home":             {"home/.claude", "claude", nil, true},
		"in its own":          {"own", "claude", []string{"CLAUDE_CONFIG_DIR=@/own"}, true},
		"in that of ccc":      {"ccc", "/opt/ccc main", []string{"CCC_CONFIG_DIR=@/ccc", "CLAUDE_CONFIG_DIR=@/own"}, true},
		"in that of stopgate": {"ccc", "stopgate claude", []string{"CCC_CONFIG_DIR=@/ccc"}, true},
		"ccc without its own": {"own", "ccc", []string{"CLAUDE_CONFIG_DIR=@/own"}, true},
		"not in that of ccc":  {"ccc", "claude", []string{"CCC_CONFIG_DIR=@/ccc"}, false},
		"below the cwd":       {"cwd/mine", "claude", []string{"CLAUDE_CONFIG_DIR=mine"}, true},
		"in what run says":    {"own dir", "A=1 CLAUDE_CONFIG_DIR='@/own dir' claude -c", []string{"CLAUDE_CONFIG_DIR=@/other"}, true},
		"of a variable":       {"home/x", "CLAUDE_CONFIG_DIR=$HOME/x claude", nil, true},
		"at home in run":      {"home/x", "CLAUDE_CONFIG_DIR=~/x claude", nil, true},
		"in quotes":           {"home/x", "CLAUDE_CONFIG_DIR='$HOME/x' claude", nil, false},
		"where nobody looks":  {"elsewhere", "claude", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			env := []string{"HOME=" + filepath.Join(root, "home")}
			for _, entry := range test.env {
				env = append(env, strings.ReplaceAll(entry, "@", root))
			}
			dir := filepath.Join(root, filepath.FromSlash(test.at), "projects", "-p")
			check(t, os.MkdirAll(dir, 0o700))
			check(t, os.WriteFile(filepath.Join(dir, "s1.jsonl"), nil, 0o600))
			config := ConfigDir(strings.ReplaceAll(test.run, "@", root), filepath.Join(root, "cwd"), env)
			if got := hasTranscript("s1", config); got != test.want {
				t.Errorf("found: %t in %s", got, config)
			}
			if hasTranscript("s2", config) {
				t.Error("one that is not there was found")
			}
		})
	}
}
