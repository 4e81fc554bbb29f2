package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newPlace is a project whose Stop hook is the script, called as stopgate is.
func newPlace(t *testing.T, command, script string) Place {
	t.Helper()
	root, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("CLAUDE_BIN", filepath.Join(home, "no-client"))
	t.Setenv("TMPDIR", t.TempDir())
	program := filepath.Join(root, "bin", "stopgate")
	settings := fmt.Sprintf(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": %q, "args": ["hook", "Stop"], "timeout": 1200}]}]}}`, command)
	for path, text := range map[string]string{
		program: script,
		filepath.Join(root, ".claude", "settings.json"): settings,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("STOPGATE_STATE_DIR", filepath.Join(home, "state"))
	t.Setenv("TMPDIR", t.TempDir())
	return Place{StateDir: filepath.Join(home, "state"), GlobalPath: filepath.Join(home, "config.yml"), Dir: root, Root: root}
}

// honest blocks until the fault is mended, as doctor's own configuration asks.
const honest = `#!/bin/sh
cat > /dev/null
[ -e mended ] || echo '{"decision":"block","reason":"` + probeReason + `"}'
`

// The client expands ${CLAUDE_PROJECT_DIR} in a command without a shell; the
// project is the person's, not the one made for the test.
func TestProjectDirInCommand(t *testing.T) {
	place := newPlace(t, "${CLAUDE_PROJECT_DIR}/bin/stopgate", honest)
	if report := Examine(t.Context(), place); !report.Live() {
		t.Errorf("not live: %+v", report.Findings)
	}
}

// Ctrl-C in the middle leaves no process, no approval and no directory.
func TestInterrupted(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	place := newPlace(t, "${CLAUDE_PROJECT_DIR}/bin/stopgate", "#!/bin/sh\ntouch "+started+"\nexec sleep 3600\n")
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(started); err == nil {
				interrupt()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	defer interrupt()
	report := Examine(ctx, place)
	findings := report.Findings
	if report.Live() || !strings.Contains(findings[len(findings)-1].Text, "was ended") {
		t.Errorf("findings: %+v", findings)
	}
	for _, pattern := range []string{
		filepath.Join(os.TempDir(), "stopgate-doctor-*"),
		filepath.Join(place.StateDir, "trust", "*", "*"),
	} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"2.1.210": false, "2.1.211": true, "2.1.325": true, "2.2.0": true, "3.0": true,
		"1.9.999": false, "2.1": false, "": false, "dev": false,
	} {
		if got := atLeast(version, "2.1.211"); got != want {
			t.Errorf("%q: %t", version, got)
		}
	}
}
