//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/enclave"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/test/programs"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	commands := map[string]func(){
		"stopgated": stopgated,
	}
	if commands[filepath.Base(os.Args[0])] == nil {
		environtest.Clean()
	}
	testscript.Main(m, commands)
}

// TestScripts runs the stories in testdata/script with the program that people get. Each has a
// home and a state directory of its own, a client that only knows its version, and nothing of the
// machine's own git or client settings. proj/ is a repository.
func TestScripts(t *testing.T) {
	check(t, addProgram())
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               setUp,
		Condition:           holds,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"payload":  writePayload,
			"exit":     checkExit,
			"json":     checkJSON,
			"endpoint": startEndpoint,
			"word":     takeWord,
			"real":     useReal,
		},
	})
}

// holds knows the conditions "program:NAME", "namespace" and "root". Where all tests must run
// it is an error that there is no such program, or no private mount namespace.
func holds(condition string) (bool, error) {
	var err error
	if name, is := strings.CutPrefix(condition, "program:"); is {
		_, err = exec.LookPath(name)
	} else if condition == "namespace" {
		err = enclave.Available()
	} else if condition == "root" {
		return os.Geteuid() == 0, nil
	} else {
		return false, fmt.Errorf("unknown condition %q", condition)
	}
	if err != nil && environtest.Required() {
		return false, fmt.Errorf("%w: run scripts/setup-tests", err)
	}
	return err == nil, nil
}

// addProgram puts stopgate beside the stand-ins, under all of its names and one that a person gave
// it.
var addProgram = sync.OnceValue(func() error {
	bin := standIns()
	real := realPrograms(bin)
	if err := os.Mkdir(real, 0o700); err != nil {
		return err
	}
	if err := programs.Build(real); err != nil {
		return err
	}
	for _, name := range []string{"stopgate", "conclaude", "agent-gauntlet", "tui-driver", "oj", "ccc", "sg2"} {
		if err := os.Link(filepath.Join(real, "stopgate"), filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	return addClient(bin)
})

// addClient adds a client that only knows its version. It is a script: under the race detector this test takes
// fifty milliseconds to start, and doctor asks often.
func addClient(bin string) error {
	return os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho '2.1.197 (Claude Code)'\n"), 0o700)
}

// standIns is the directory where testscript put this test, under the names of what it stands in
// for.
func standIns() string {
	bin, _, _ := strings.Cut(os.Getenv("PATH"), string(filepath.ListSeparator))
	return bin
}

func realPrograms(bin string) string { return filepath.Join(bin, "real") }

func setUp(env *testscript.Env) error {
	work := env.WorkDir
	home := filepath.Join(work, "home")
	for _, dir := range []string{home, filepath.Join(work, "proj", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	bin := standIns()
	for name, value := range map[string]string{
		"HOME":                home,
		"PATH":                strings.Join([]string{bin, "/usr/bin", "/bin"}, string(filepath.ListSeparator)),
		"BIN":                 bin,
		"STATE":               filepath.Join(work, "state"),
		"STOPGATE_STATE_DIR":  filepath.Join(work, "state"),
		"SHELL":               "/bin/sh", // of tmux
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL":   os.DevNull,
		"TZ":                  "UTC",
		"GORACE":              "atexit_sleep_ms=0", // the stand-ins would sleep for a second before they end
	} {
		env.Setenv(name, value)
	}
	env.Defer(func() { // a script that failed leaves it behind
		_ = daemonapi.New(filepath.Join(work, "state", "daemon.sock"), "test").Stop(context.Background(), true)
	})
	env.Cd = filepath.Join(work, "proj")
	return nil
}

// writePayload is "payload FILE EVENT [key=value | -key]...": a payload as the
// client sends it from the current directory. A value that is JSON stays what
// it is; "-key" leaves a field out.
func writePayload(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: payload FILE EVENT [key=value | -key]...")
	}
	payload := map[string]any{
		"session_id":      "session-1",
		"transcript_path": "/tmp/main.jsonl",
		"cwd":             ts.MkAbs("."),
		"hook_event_name": args[1],
		"prompt_id":       "prompt-1",
	}
	switch args[1] {
	case "SubagentStop":
		payload["agent_id"], payload["agent_type"] = "a1b2", "coder"
		payload["agent_transcript_path"] = "/tmp/agent.jsonl"
		fallthrough
	case "Stop":
		payload["stop_hook_active"] = false
	}
	for _, arg := range args[2:] {
		key, value, found := strings.Cut(arg, "=")
		if !found {
			delete(payload, strings.TrimPrefix(key, "-"))
			continue
		}
		payload[key] = value
		var parsed any
		if json.Unmarshal([]byte(value), &parsed) == nil {
			payload[key] = parsed
		}
	}
	text, err := json.Marshal(payload)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(text, '\n'), 0o600))
}

// checkExit is "exit CODE stopgate ARGS...": a command line with its exit
// code, which is part of our interface.
func checkExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND...")
	}
	script := `"$@"; code=$?; if [ "$code" != "$0" ]; then echo "exit code $code, not $0" >&2; exit 99; fi`
	ts.Check(ts.Exec("sh", append([]string{"-c", script}, args...)...))
}

// checkJSON is "json FILE [PATH VALUE]...": FILE (or stdout) is one JSON
// document per line or one in all, and the value at each dotted path of the
// first is VALUE.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 1 {
		ts.Fatalf("usage: json FILE [PATH VALUE]...")
	}
	var document any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(dec.Decode(&document))
	for i := 1; i < len(args); i += 2 {
		got, err := json.Marshal(at(document, args[i]))
		ts.Check(err)
		if string(got) != args[i+1] {
			ts.Fatalf("%s is %s, not %s", args[i], got, args[i+1])
		}
	}
	for dec.More() {
		var next any
		ts.Check(dec.Decode(&next))
	}
}

// useReal is "real": from here on stopgated is the one that people get, too.
func useReal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: real")
	}
	ts.Setenv("REAL", realPrograms(ts.Getenv("BIN")))
	ts.Setenv("PATH", ts.Getenv("REAL")+string(filepath.ListSeparator)+ts.Getenv("PATH"))
}

// takeWord is "word VARIABLE N": the N-th word of stdout, from 1.
func takeWord(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: word VARIABLE N")
	}
	words := strings.Fields(ts.ReadFile("stdout"))
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	if n < 1 || n > len(words) {
		ts.Fatalf("stdout has %d words", len(words))
	}
	ts.Setenv(args[0], words[n-1])
}

func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			value = element(v, name)
		default:
			return nil
		}
	}
	return value
}

// element is the one at an index of one digit; "len" counts.
func element(list []any, name string) any {
	if name == "len" {
		return len(list)
	}
	if i := int(name[0] - '0'); len(name) == 1 && i < len(list) {
		return list[i]
	}
	return nil
}
