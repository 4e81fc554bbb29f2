package doctor

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
)

// newPlace is a project whose Stop hook is this binary.
func newPlace(t *testing.T, answers string) Place {
	t.Helper()
	root, home := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "CLAUDE_CONFIG_DIR": "", "CLAUDE_BIN": filepath.Join(home, "no-client"), "TMPDIR": t.TempDir(),
		"STOPGATE_STATE_DIR": filepath.Join(home, "state"), "STOPGATE_DOCTOR_TEST": answers,
	} {
		t.Setenv(name, value)
	}
	self, err := os.Executable()
	check(t, err)
	program := filepath.Join(home, "stopgate")
	check(t, os.Symlink(self, program))
	if _, err := settings.Install(filepath.Join(root, ".claude", "settings.json"), settings.Plan(program, nil, nil, 0)); err != nil {
		t.Fatal(err)
	}
	return Place{StateDir: filepath.Join(home, "state"), GlobalPath: filepath.Join(home, "config.yml"), Dir: root, Root: root, Needs: parsed}
}

// Only a hook that blocks what must be blocked, and nothing else, is live.
func TestE16ABlockBlocks(t *testing.T) {
	for answers, want := range map[string]string{
		"honest": "a stop with a failing check was blocked",
		"allow":  "a stop that should be blocked was not: the hook answered nothing",
		"agree":  "a stop that should be blocked was not: the hook answered approve: fine",
		"fail":   "the hook failed: exit 3 oh dear",
		"chat":   `did not answer with JSON: "hello`,
		"always": "a stop that should be allowed was blocked: ",
	} {
		report := Examine(t.Context(), newPlace(t, answers))
		last := report.Findings[len(report.Findings)-1]
		if !strings.Contains(last.Text, want) || report.Live() != (answers == "honest") {
			t.Errorf("%s: live is %t, %+v", answers, report.Live(), last)
		}
	}
}

// An entry that stands in two files is called once, and nothing stays behind of the test.
func TestTheTestLeavesNothing(t *testing.T) {
	place := newPlace(t, "honest")
	shared := filepath.Join(place.Root, ".claude", "settings.json")
	text, err := os.ReadFile(shared)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(place.Root, ".claude", "settings.local.json"), text, 0o600))

	tests := 0
	for _, f := range Examine(t.Context(), place).Findings {
		if strings.Contains(f.Text, "a stop with a failing check was blocked") {
			tests++
		}
	}
	counts, err := filepath.Glob(filepath.Join(place.StateDir, "blocks", "*.json"))
	if check(t, err); tests != 1 || len(counts) > 0 {
		t.Errorf("%d tests, and counts in %q", tests, counts)
	}
}

// A folder of the PATH that is relative is another one in every project: what it has counts as not installed.
func TestProgramsOfRelativeFoldersDoNotCount(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bin")
	check(t, os.Mkdir(dir, 0o700))
	check(t, os.WriteFile(filepath.Join(dir, "tool"), nil, 0o700))
	t.Chdir(filepath.Dir(dir))
	for value, found := range map[string]bool{"bin": false, "": false, dir: true, "bin" + string(filepath.ListSeparator) + dir: true} {
		e := examination{environment: map[string]string{"PATH": value}}
		if path, err := e.lookPath("tool"); (err == nil) != found || found && path != filepath.Join(dir, "tool") {
			t.Errorf("%q: %s, %v", value, path, err)
		}
	}
}

// An older stopgate was called for fewer tools.
func TestAnOlderMatcherIsNamed(t *testing.T) {
	const narrow = "the entry for PostToolUse is from an older stopgate and covers fewer tools"
	place := newPlace(t, "honest")
	named := func() bool {
		return slices.ContainsFunc(Examine(t.Context(), place).Findings, func(f Finding) bool { return strings.Contains(f.Text, narrow) })
	}
	if named() {
		t.Error("what is installed today is named")
	}
	path := filepath.Join(place.Root, ".claude", "settings.json")
	text, err := os.ReadFile(path)
	check(t, err)
	older := regexp.MustCompile(`"matcher": "[^"]*mcp__[^"]*"`).ReplaceAll(text, []byte(`"matcher": "Edit|MultiEdit|Write|NotebookEdit"`))
	check(t, os.WriteFile(path, older, 0o600))
	if !named() {
		t.Error("an older matcher is not named")
	}
}

// Ctrl-C in the middle leaves no process, no approval and no directory.
func TestInterrupted(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	t.Setenv("STOPGATE_DOCTOR_STARTED", started)
	place := newPlace(t, "hang")
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

// Stops are enforced where only other parts of the configuration are not.
func TestIssue19APartIsNotInForce(t *testing.T) {
	e := examination{project: &config.Project{}}
	e.uncovered(hook.PreToolUse)
	if r := (Report{Findings: e.findings}); !r.Dead() || !r.Partly() {
		t.Errorf("deny rules: %+v", r)
	}
	for what, more := range map[string]func(e *examination){
		"commands for Stop": func(e *examination) { e.uncovered(hook.Stop) },
		"something else":    func(e *examination) { e.find(Dead, "program", "it is gone", "") },
	} {
		also := examination{project: e.project, findings: slices.Clone(e.findings)}
		more(&also)
		if r := (Report{Findings: also.findings}); r.Partly() {
			t.Errorf("%s: %+v", what, r)
		}
	}
	if (Report{}).Partly() {
		t.Error("all is well, and a part is not")
	}
}
