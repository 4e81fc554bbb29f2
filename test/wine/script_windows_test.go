// Package wine has what a user of Windows sees, as scripts with stopgate.exe. scripts/wine runs them.
package wine

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
)

var bin = flag.String("bin", "", "the directory of stopgate.exe")

func TestMain(m *testing.M) {
	environtest.Clean()
	m.Run()
}

// TestIssue19Windows runs the stories in testdata/script. Each has a home and a state directory of its
// own. There is no git, no sh and no tmux.
func TestIssue19Windows(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit":    checkExit,
			"payload": writePayload,
		},
	})
}

func setUp(env *testscript.Env) error {
	project := filepath.Join(env.WorkDir, "a project")
	for _, dir := range []string{filepath.Join(env.WorkDir, "home"), filepath.Join(project, ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	env.Setenv("USERPROFILE", filepath.Join(env.WorkDir, "home"))
	env.Setenv("STOPGATE_STATE_DIR", filepath.Join(env.WorkDir, "state"))
	env.Setenv("PATH", *bin)
	env.Cd = project
	return nil
}

// checkExit is "exit CODE COMMAND...".
func checkExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND...")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code, err = exit.ExitCode(), nil
	}
	ts.Check(err)
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

// writePayload is "payload FILE EVENT": what Claude Code sends from the current directory.
func writePayload(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: payload FILE EVENT")
	}
	text, err := json.Marshal(map[string]any{
		"session_id": "session-1", "prompt_id": "prompt-1", "transcript_path": ts.MkAbs("main.jsonl"), "cwd": ts.MkAbs("."),
		"hook_event_name": args[1], "stop_hook_active": false,
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(text, "\r\n"...), 0o600))
}
