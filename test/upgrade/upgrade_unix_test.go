//go:build unix

// Package upgrade runs the previous version of stopgate beside this one: each row of the tables in
// docs/upgrading.md is a script in testdata/script.
package upgrade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/lockfile"
	"github.com/stopgate/stopgate/test/programs"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	os.Exit(m.Run())
}

// TestVersionsSideBySide runs the rows. $OLD and $NEW are the directories of both versions; proj/ is an
// approved project with one gate, which is red where there is a file red.
func TestVersionsSideBySide(t *testing.T) {
	environtest.Need(t, "git")
	environtest.Need(t, "tmux")
	old, err := buildPrevious(t.Context())
	if errors.Is(err, errNoHistory) {
		t.Skip(err)
	}
	check(t, err)
	current := t.TempDir()
	check(t, programs.Build(current))
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               func(env *testscript.Env) error { return setUp(env, old, current) },
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exit": checkExit},
	})
}

// The page about upgrades has a row for each script, and no other.
func TestIssue19EveryRowOfUpgradesHasAScript(t *testing.T) {
	page, err := os.ReadFile("../../docs/upgrading.md")
	check(t, err)
	named := map[string]bool{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); strings.HasPrefix(line, "| ") && len(cells) == 3 && strings.HasPrefix(cells[2], "`") {
			named[strings.Trim(cells[2], "`| ")] = true
		}
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	check(t, err)
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		if !named[name] {
			t.Errorf("docs/upgrading.md has no row for %s", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("docs/upgrading.md names %s, which is not a script", name)
	}
}

// errNoHistory means that the clone does not have the previous version.
var errNoHistory = errors.New("the clone has no history, so the previous version cannot be built")

// buildPrevious builds the previous version, once for all runs on this machine.
func buildPrevious(ctx context.Context) (string, error) {
	commit, err := previous(ctx)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("stopgate-previous-%d-%.12s", os.Getuid(), commit))
	release, err := lockfile.Acquire(ctx, dir+".lock", 20*time.Minute)
	if err != nil {
		return "", err
	}
	defer release()
	if _, err := os.Stat(filepath.Join(dir, "stopgated")); err == nil {
		return dir, nil
	}
	source, err := os.MkdirTemp("", "stopgate-source-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(source)
	script := `git archive "$1" | tar -x -C "$2" && cd "$2" && go build -trimpath -ldflags="-s -w -X $4/internal/cli.version=$5 -X $4/internal/sys/program.version=$5" \
		-o "$3.new/" ./cmd/stopgate ./cmd/stopgated && rm -rf "$3" && mv "$3.new" "$3"`
	if _, err := output(ctx, "sh", "-c", script, "sh", commit, source, dir, "github.com/stopgate/stopgate", "v0.0.1"); err != nil {
		return "", err
	}
	return dir, nil
}

// previous is the commit of the last release before this one; before the first release, the one that is
// written down.
func previous(ctx context.Context) (string, error) {
	commit := ""
	if tag, err := output(ctx, "git", "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*", "HEAD~"); err == nil {
		commit, _ = output(ctx, "git", "rev-parse", tag+"^{commit}")
	}
	if commit == "" {
		text, err := os.ReadFile("previous")
		if err != nil {
			return "", err
		}
		commit = string(bytes.TrimSpace(text))
	}
	if _, err := output(ctx, "git", "cat-file", "-e", commit+"^{commit}"); err != nil {
		return "", errNoHistory
	}
	return commit, nil
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	if name == "git" || name == "sh" {
		root, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
		if err != nil {
			return "", errNoHistory
		}
		cmd.Dir = strings.TrimSpace(string(root))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

func setUp(env *testscript.Env, old, current string) error {
	work := env.WorkDir
	for name, value := range map[string]string{
		"HOME": filepath.Join(work, "home"), "OLD": old, "NEW": current, "STATE": filepath.Join(work, "state"),
		"STOPGATE_STATE_DIR": filepath.Join(work, "state"), "PATH": filepath.Join(work, "bin") + ":" + os.Getenv("PATH"), "SHELL": "/bin/sh",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "TZ": "UTC",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		env.Setenv(name, value)
	}
	env.Defer(func() { // a script that failed leaves it behind
		_ = daemonapi.New(filepath.Join(work, "state", "daemon.sock"), "test").Stop(context.Background(), true)
	})
	env.Cd = filepath.Join(work, "proj")
	for name, text := range files {
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			return err
		}
	}
	cmd := exec.Command("sh", "-c", "git init -q -b main . && git add -A && git commit -qm begin")
	cmd.Dir, cmd.Env = env.Cd, env.Vars
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// files are those that every row begins with.
var files = map[string]string{
	"home/.config/agent-gauntlet/config.yml": "trust: enforce\n",
	"proj/f":                                 "begin\n",
	"proj/.gauntlet/config.yml": `base_branch: main
entry_points:
  - path: .
    checks:
      - {name: t, command: echo ran >>$HOME/runs; test ! -e red}
`,
	// stop VERSION PROMPT: an agent stops.
	"bin/stop": `#!/bin/sh
printf '{"session_id":"s1","transcript_path":"/dev/null","cwd":"%s","hook_event_name":"Stop","stop_hook_active":false,"prompt_id":"%s"}' "$PWD" "$2" | "$1/stopgate" hook Stop
`,
	// until COMMAND: waits until it succeeds.
	"bin/until": `#!/bin/sh
for i in $(seq 1200); do sh -c "$1" >/dev/null 2>&1 && exit 0; sleep 0.05; done
echo "this never came true: $1" >&2; exit 1
`,
}

// checkExit is "exit CODE COMMAND...".
func checkExit(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if err != nil || neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND...")
	}
	script := `"$@"; code=$?; if [ "$code" != "$0" ]; then echo "exit code $code, not $0" >&2; exit 99; fi`
	ts.Check(ts.Exec("sh", append([]string{"-c", script, strconv.Itoa(want)}, args[1:]...)...))
}
