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
