package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The demo is what README's "make run" shows: a stop that is blocked, fixed and
// allowed.
func TestDemoTellsItsStory(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(filepath.Join(repository, "scripts", "demo"), stopgate)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for _, want := range []string{
		"enforcement is live",
		`"decision":"block"`,
		"stopgate: check ✓",
		"(nothing: the agent may stop)",
		"gates: failed",
		"gates: passed",
		"gates: unchanged",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not come, or not in its place:\n%s", want, out)
		}
		rest = after
	}
}

// The configuration that README and docs/format.md show is valid.
func TestExamplesInTheDocsAreValid(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"README.md", "docs/format.md"} {
		text, err := os.ReadFile(filepath.Join(repository, file))
		check(t, err)
		examples := strings.Split(string(text), "```yaml\n")[1:]
		if len(examples) == 0 {
			t.Errorf("%s shows no configuration", file)
		}
		for _, example := range examples {
			example, _, _ = strings.Cut(example, "```")
			home, root := t.TempDir(), t.TempDir()
			path := filepath.Join(root, ".gauntlet", "config.yml")
			if strings.HasPrefix(example, "trust:") {
				path = filepath.Join(home, ".config", "agent-gauntlet", "config.yml")
			}
			check(t, os.MkdirAll(filepath.Dir(path), 0o700))
			check(t, os.WriteFile(path, []byte(example), 0o600))
			cmd := exec.Command(stopgate, "validate")
			cmd.Dir = root
			cmd.Env = []string{"HOME=" + home}
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "valid") {
				t.Errorf("%s: %v\n%s", file, err, out)
			}
		}
	}
}
