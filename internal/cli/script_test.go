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

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/client"
	"github.com/stopgate/stopgate/internal/enclave"
	"github.com/stopgate/stopgate/internal/environ/environtest"
)

func TestMain(m *testing.M) {
	run := func() { os.Exit(cli.Main(os.Args)) }
	programs := map[string]func(){
		"stopgate":       run,
		"conclaude":      run,
		"agent-gauntlet": run,
		"tui-driver":     run,
		"oj":             run,
		"sg2":            run, // somebody renamed the program
		"stopgated":      stopgated,
		"claude":         func() { fmt.Println("2.1.197 (Claude Code)") },
	}
	if programs[filepath.Base(os.Args[0])] == nil {
		environtest.Clean()
	}
	testscript.Main(m, programs)
}

// TestScripts runs the stories in testdata/script. Each has a home and a state
// directory of its own, a client that only knows its version, and nothing of
// the machine's own git or client settings. proj/ is a repository.
func TestScripts(t *testing.T) {
	real := sync.OnceValues(func() (string, error) { return buildPrograms(t.TempDir()) })
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
			"real":     useReal(real),
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

func setUp(env *testscript.Env) error {
	work := env.WorkDir
	home := filepath.Join(work, "home")
	for _, dir := range []string{home, filepath.Join(work, "proj", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	bin, _, _ := strings.Cut(env.Getenv("PATH"), string(filepath.ListSeparator)) // where testscript put us
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
		// A program built with -race sleeps for a second before it exits.
		"GORACE": "atexit_sleep_ms=0",
	} {
		env.Setenv(name, value)
	}
	env.Defer(func() { // a script that failed leaves it behind
		_ = client.New(filepath.Join(work, "state", "daemon.sock"), "test").Stop(context.Background(), true)
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

// useReal is "real": from here on stopgate and stopgated are the programs that people
// get.
func useReal(build func() (string, error)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 0 {
			ts.Fatalf("usage: real")
		}
		bin, err := build()
		ts.Check(err)
		ts.Setenv("PATH", bin+string(filepath.ListSeparator)+ts.Getenv("PATH"))
		ts.Setenv("REAL", bin)
	}
}

func buildPrograms(dir string) (string, error) {
	out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../../cmd/stopgate", "../../cmd/stopgated").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
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
