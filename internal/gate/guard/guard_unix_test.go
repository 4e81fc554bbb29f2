//go:build unix

package guard

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/sys/checktest"
	"github.com/stopgate/stopgate/internal/sys/environ/environtest"
	"github.com/stopgate/stopgate/internal/sys/process"
)

var check = checktest.OK

func TestMain(m *testing.M) {
	environtest.Clean()
	goleak.VerifyTestMain(m)
}

const (
	stopPayload = `{"session_id":"s1","transcript_path":"/t/main.json","hook_event_name":"Stop","cwd":"/c","prompt_id":"p1","stop_hook_active":false}`
	// The seed's, with main and agent transcripts apart.
	subagentPayload = `{"session_id":"abc123","transcript_path":"/tmp/main_transcript.json","hook_event_name":"SubagentStop","cwd":"/home/user/project","stop_hook_active":true,"agent_id":"tester","agent_transcript_path":"/tmp/agent_coder_transcript.json"}`
	toolPayload     = `{"session_id":"s1","transcript_path":"/t","hook_event_name":"PreToolUse","cwd":"/c","tool_name":"Bash","tool_input":{"command":"rm -rf /"},"tool_use_id":"u1"}`
)

// with adds fields to a payload, or replaces them; null removes.
func with(t *testing.T, payload string, fields map[string]any) string {
	t.Helper()
	var doc map[string]any
	check(t, json.Unmarshal([]byte(payload), &doc))
	for name, value := range fields {
		if doc[name] = value; value == nil {
			delete(doc, name)
		}
	}
	text, err := json.Marshal(doc)
	check(t, err)
	return string(text)
}

// newCall is a call in a new project whose configuration has these hooks.
func newCall(t *testing.T, payload, hooks string) *keeper.Call {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yml"), []byte("hooks:\n"+hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.LoadProject(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := hook.Decode([]byte(payload), "")
	check(t, err)
	return &keeper.Call{
		Payload: p,
		Raw:     []byte(payload),
		Env:     []string{"PATH=" + os.Getenv("PATH")},
		Project: &keeper.Project{Root: root, Config: cfg, ConfigDir: filepath.Join(root, ".gauntlet")},
	}
}

func judge(t *testing.T, call *keeper.Call) keeper.Verdict {
	t.Helper()
	if !(Guard{}).Applies(call) {
		t.Fatal("the guard did not apply")
	}
	return Guard{}.Judge(t.Context(), call)
}

func read(t *testing.T, call *keeper.Call, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(call.Project.Root, name))
	check(t, err)
	return string(text)
}

func TestDoesNotApply(t *testing.T) {
	calls := map[string]*keeper.Call{
		"another event":   newCall(t, stopPayload, "  SubagentStop:\n    - run: exit 1\n"),
		"no match":        newCall(t, subagentPayload, "  SubagentStop:\n    - {match: coder, run: exit 1}\n"),
		"no hooks":        newCall(t, stopPayload, "  {}\n"),
		"outside project": newCall(t, stopPayload, "  {}\n"),
	}
	calls["outside project"].Project = nil
	for name, call := range calls {
		if (Guard{}).Applies(call) {
			t.Errorf("%s: it applies", name)
		}
	}
}

func TestRulingC1GuardRunsOnEveryEvent(t *testing.T) {
	for _, event := range hook.Events() {
		payload := with(t, toolPayload, map[string]any{
			"hook_event_name":  string(event),
			"stop_hook_active": false, "agent_id": "a", "agent_transcript_path": "/t/a", "prompt": "p",
		})
		call := newCall(t, payload, "  "+string(event)+":\n    - {run: touch ran, on_failure: report}\n")
		if v := judge(t, call); v.Outcome != keeper.Passed || v.Status != "passed" || v.Message != "" || v.Reason != "" {
			t.Errorf("%s: got %+v", event, v)
		}
		read(t, call, "ran")
	}
}

func TestRulingC4GuardMayBlockThreeTimes(t *testing.T) {
	if n := (Guard{}).MaxBlocks(); n != 3 {
		t.Errorf("got %d", n)
	}
}

func TestRulingC9PayloadOnStdinAndProjectRootAsDirectory(t *testing.T) {
	call := newCall(t, with(t, stopPayload, map[string]any{"new_field": "kept", "last_assistant_message": strings.Repeat("long ", 50_000)}),
		"  Stop:\n    - run: cat >payload; pwd >directory\n")
	judge(t, call)
	if got := read(t, call, "payload"); got != string(call.Raw) {
		t.Errorf("stdin was %.100q, want the payload as it came", got)
	}
	if got := read(t, call, "directory"); got != call.Project.Root+"\n" {
		t.Errorf("ran in %q, want %q", got, call.Project.Root)
	}
}

func TestMatching(t *testing.T) {
	agent := func(id, kind string) map[string]any { return map[string]any{"agent_id": id, "agent_type": kind} }
	tests := []struct {
		name    string
		pattern string
		fields  map[string]any
		want    bool
	}{
		{"by type", "coder", agent("adb0a8b", "coder"), true},
		{"by id", "coder", agent("coder", "general-purpose"), true},
		{"by id alone", "coder", agent("coder", ""), true},
		{"glob", "coder*", agent("x", "coder-2"), true},
		{"glob by id", "adb*", agent("adb0a8b", "coder"), true},
		{"alternatives", "{coder,tester}", agent("x", "tester"), true},
		{"class", "code[rs]", agent("x", "coder"), true},
		{"plugin", "my-plugin:*", agent("x", "my-plugin:reviewer"), true},
		{"other", "coder*", agent("x", "tester"), false},
		{"case", "coder", agent("x", "Coder"), false},
		{"not a prefix", "code", agent("x", "coder"), false},
		{"the client's own summariser has no type", "coder*", agent("x", ""), false},
		{"everything", "*", agent("x", ""), true},
		{"everything, with a slash", "*", agent("a/b", "c/d"), true},
		{"literal brackets", "a[1]", agent("x", "a[1]"), true},
	}
	for _, tt := range tests {
		t.Run("Ruling06/"+tt.name, func(t *testing.T) {
			call := newCall(t, with(t, subagentPayload, tt.fields), "  SubagentStop:\n    - {match: \""+tt.pattern+"\", run: \"true\"}\n")
			if got := (Guard{}).Applies(call); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestAllMatchingCommandsRunInFileOrder(t *testing.T) {
	call := newCall(t, subagentPayload, `  SubagentStop:
    - run: echo 1 >>order; exit 1
    - {match: "no*", run: echo 2 >>order}
    - run: echo 3 >>order; no-such-program
    - {match: "te*", run: echo 4 >>order}
    - run: echo 5 >>order; kill -9 $$
`)
	judge(t, call)
	if got := read(t, call, "order"); got != "1\n3\n4\n5\n" {
		t.Errorf("ran %q", got)
	}
}

func TestOnFailure(t *testing.T) {
	tests := []struct {
		name, payload, hooks string
		outcome              keeper.Outcome
		reason, message      string
	}{
		{
			"Stop blocks by default", stopPayload, "  Stop:\n    - run: echo broken; exit 1\n",
			keeper.Failed, "stopgate: `echo broken; exit 1` failed: exit 1\nbroken", "",
		},
		{
			"Stop may only report", stopPayload, "  Stop:\n    - {run: echo broken; exit 1, on_failure: report}\n",
			keeper.Failed, "", `hook command "echo broken; exit 1" failed: exit 1`,
		},
		{
			"SubagentStop reports by default", subagentPayload, "  SubagentStop:\n    - {run: exit 4, message: look at it}\n",
			keeper.Failed, "", `hook command "exit 4" failed: exit 4 (look at it)`,
		},
		{
			"SubagentStop may block", subagentPayload, "  SubagentStop:\n    - {run: exit 4, on_failure: block}\n",
			keeper.Failed, "stopgate: `exit 4` failed: exit 4", "",
		},
		{
			"the message, what failed, then the end of the output", stopPayload, "  Stop:\n    - {run: seq 100; exit 1, message: fix the lint errors, output_lines: 2}\n",
			keeper.Failed, "fix the lint errors\n\nstopgate: `seq 100; exit 1` failed: exit 1\n[…]\n99\n100", "",
		},
		{
			"standard error too", stopPayload, "  Stop:\n    - run: echo why >&2; exit 1\n",
			keeper.Failed, "stopgate: `echo why >&2; exit 1` failed: exit 1\nwhy", "",
		},
		{
			"a signal", stopPayload, "  Stop:\n    - run: kill -TERM $$\n",
			keeper.Failed, "stopgate: `kill -TERM $$` failed: was ended by signal 15 (terminated)", "",
		},
		{
			"two blocks", stopPayload, "  Stop:\n    - run: exit 1\n    - run: exit 2\n",
			keeper.Failed, "stopgate: `exit 1` failed: exit 1\n\n`exit 2` failed: exit 2", "",
		},
		{
			"not found does not block", stopPayload, "  Stop:\n    - run: exit 127\n",
			keeper.CouldNotRun, "", `hook command "exit 127" was not found (exit 127); nothing was checked`,
		},
		{
			"not executable does not block", stopPayload, "  Stop:\n    - run: exit 126\n",
			keeper.CouldNotRun, "", `hook command "exit 126" cannot be executed (exit 126); nothing was checked`,
		},
		{
			"a failure weighs more than not found", stopPayload, "  Stop:\n    - run: exit 127\n    - run: exit 1\n    - run: exit 126\n",
			keeper.Failed, "stopgate: `exit 1` failed: exit 1", "hook command \"exit 127\" was not found (exit 127); nothing was checked\nhook command \"exit 126\" cannot be executed (exit 126); nothing was checked",
		},
		{"success prints nothing", stopPayload, "  Stop:\n    - run: echo fine\n", keeper.Passed, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := judge(t, newCall(t, tt.payload, tt.hooks))
			want := keeper.Verdict{Outcome: tt.outcome, Status: tt.outcome.String(), Reason: tt.reason, Message: tt.message}
			if tt.outcome == keeper.Failed && tt.reason == "" {
				want.Status = Reported
			}
			summary := v.Summary
			v.Summary = ""
			if !reflect.DeepEqual(v, want) {
				t.Errorf("got  %+v\nwant %+v", v, want)
			}
			if (summary != "") != v.Blocks() {
				t.Errorf("the journal would say %q", summary)
			}
			if v.Blocks() != (tt.reason != "") {
				t.Error("blocks where it should not, or the other way round")
			}
		})
	}
}

func TestTimeoutIsAFailure(t *testing.T) {
	call := newCall(t, stopPayload, "  Stop:\n    - {run: exec sleep 600, timeout: 200ms}\n")
	if v := judge(t, call); !v.Blocks() || !strings.Contains(v.Reason, "timed out after ") {
		t.Errorf("got %+v, want a block that names the timeout", v)
	}
}

func TestRulingC5DeadlineOfTheChainIsNoFailure(t *testing.T) {
	call := newCall(t, stopPayload, "  Stop:\n    - run: exec sleep 600\n    - run: touch second\n")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	v := Guard{}.Judge(ctx, call)
	if v.Outcome != keeper.CouldNotRun || v.Blocks() || !strings.Contains(v.Message, "the hook timed out or was cancelled") {
		t.Errorf("got %+v, want could-not-run", v)
	}
}

func TestJournalledMessageHoldsNoOutput(t *testing.T) {
	v := judge(t, newCall(t, subagentPayload, "  SubagentStop:\n    - run: F=/dev/null; echo sec''ret; exit 1\n"))
	if strings.Contains(v.Message, "secret") {
		t.Errorf("the message holds output: %q", v.Message)
	}
}

// environment is what a command found in its environment, without what the
// shell sets by itself.
func environment(t *testing.T, payload string, env ...string) (*keeper.Call, []string) {
	t.Helper()
	event := "SubagentStop"
	if strings.Contains(payload, `"Stop"`) {
		event = "Stop"
	}
	call := newCall(t, payload, "  "+event+":\n    - run: exec env >env\n")
	call.Env = append(call.Env, env...)
	before := os.Environ()
	judge(t, call)
	if !slices.Equal(before, os.Environ()) {
		t.Error("our own environment was changed")
	}
	var out []string
	for line := range strings.Lines(read(t, call, "env")) {
		line = strings.TrimSpace(line)
		if name, _, _ := strings.Cut(line, "="); !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_", "PATH", "STOPGATE_COMMAND"}, name) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return call, out
}

func TestRuling05EnvironmentOfASubagentStop(t *testing.T) {
	call, got := environment(t, with(t, subagentPayload, map[string]any{"agent_type": "coder"}),
		"KEPT=1", "CLAUDECODE=1", "CONCLAUDE_AGENT_ID=stale", "CONCLAUDE_AGENT_NAME=stale", "CONCLAUDE_=stale")
	want := []string{
		"CLAUDECODE=1",
		"CONCLAUDE_AGENT_ID=tester",
		"CONCLAUDE_AGENT_TRANSCRIPT_PATH=/tmp/agent_coder_transcript.json",
		"CONCLAUDE_AGENT_TYPE=coder",
		"CONCLAUDE_CONFIG_DIR=" + call.Project.ConfigDir,
		"CONCLAUDE_CWD=/home/user/project",
		"CONCLAUDE_HOOK_EVENT=SubagentStop",
		"CONCLAUDE_SESSION_ID=abc123",
		"CONCLAUDE_TRANSCRIPT_PATH=/tmp/main_transcript.json",
		"KEPT=1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRuling05WithoutAgentType(t *testing.T) {
	_, got := environment(t, subagentPayload, "CONCLAUDE_AGENT_TYPE=stale")
	if slices.ContainsFunc(got, func(e string) bool { return strings.HasPrefix(e, "CONCLAUDE_AGENT_TYPE") }) {
		t.Errorf("got %q", got)
	}
}

func TestRuling05EnvironmentOfAStop(t *testing.T) {
	call, got := environment(t, stopPayload, "CONCLAUDE_AGENT_ID=stale", "CONCLAUDE_AGENT_TRANSCRIPT_PATH=stale")
	want := []string{
		"CONCLAUDE_CONFIG_DIR=" + call.Project.ConfigDir,
		"CONCLAUDE_CWD=/c",
		"CONCLAUDE_HOOK_EVENT=Stop",
		"CONCLAUDE_SESSION_ID=s1",
		"CONCLAUDE_TRANSCRIPT_PATH=/t/main.json",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestRuling05StrangeValues(t *testing.T) {
	call := newCall(t, with(t, subagentPayload, map[string]any{"agent_id": "a b\n$(touch x)'\"", "agent_type": "nul\x00l"}),
		`  SubagentStop:
    - run: printf %s "$CONCLAUDE_AGENT_ID" >id; printf %s "$CONCLAUDE_AGENT_TYPE" >type
`)
	if v := judge(t, call); v.Outcome != keeper.Passed {
		t.Fatalf("got %+v", v)
	}
	if got := read(t, call, "id"); got != "a b\n$(touch x)'\"" {
		t.Errorf("id: %q", got)
	}
	if got := read(t, call, "type"); got != "null" {
		t.Errorf("type: %q; a NUL must not keep the command from running", got)
	}
}

func TestPreToolUseDenial(t *testing.T) {
	const standard = "stopgate: a hook command of this project denied this tool call"
	tests := []struct {
		name, script string
		options      string
		reason       string // empty: not denied
	}{
		{"exit 2 with a reason", "echo not this >&2; exit 2", "", "stopgate: not this"},
		{"exit 2 without", "exit 2", "", standard},
		{"exit 2 although it only reports", "exit 2", ", on_failure: report", standard},
		{"permissionDecision", `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"because"}}'`, "", "stopgate: because"},
		{"permissionDecision without reason", `echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'`, "", standard},
		{"decision block", `echo '{"decision":"block","reason":"old form"}'`, "", "stopgate: old form"},
		{"decision block, exit 1", `echo '{"decision":"block","reason":"old form"}'; exit 1`, "", "stopgate: old form"},
		{"JSON and exit 2", `echo '{"decision":"block","reason":"said"}'; exit 2`, "", "stopgate: said"},
		{"allow", `echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'`, "", ""},
		{"approve", `echo '{"decision":"approve"}'`, "", ""},
		{"not JSON", "echo deny", "", ""},
		{"half JSON", `echo '{"decision":"block"'`, "", ""},
		{"JSON of other types", `echo '{"decision":["block"]}'`, "", ""},
		{"exit 1 reports", "exit 1", "", ""},
		{"exit 3 reports", "echo no >&2; exit 3", "", ""},
		{"exit 127 says nothing", "exit 127", "", ""},
		{"exit 1 may block", "exit 1", ", on_failure: block", "stopgate: `exit 1` failed: exit 1"},
		{"success", "true", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run, err := json.Marshal(tt.script)
			check(t, err)
			v := judge(t, newCall(t, toolPayload, "  PreToolUse:\n    - {match: Bash, run: "+string(run)+tt.options+"}\n"))
			if v.Reason != tt.reason || v.Blocks() != (tt.reason != "") {
				t.Errorf("got %+v, want reason %q", v, tt.reason)
			}
		})
	}
}

// Only PreToolUse speaks that language; elsewhere 2 is an exit code like 1.
func TestExit2OfOtherEventsIsAFailureLikeAnyOther(t *testing.T) {
	if v := judge(t, newCall(t, subagentPayload, "  SubagentStop:\n    - run: exit 2\n")); v.Blocks() {
		t.Errorf("got %+v", v)
	}
	if v := judge(t, newCall(t, stopPayload, "  Stop:\n    - run: 'echo ''{\"decision\":\"block\"}'''\n")); v.Blocks() {
		t.Errorf("got %+v", v)
	}
}

// What a command printed before it was ended is not its answer.
func TestACommandThatWasEndedDoesNotDeny(t *testing.T) {
	said := process.Result{Code: 2, Stdout: []byte(`{"decision":"block","reason":"no"}`), Tail: "no"}
	if got := denial(said); got != "no" {
		t.Errorf("one that ended by itself: %q", got)
	}
	for name, end := range map[string]func(*process.Result){
		"timed out":   func(r *process.Result) { r.TimedOut = true },
		"cancelled":   func(r *process.Result) { r.Canceled = true },
		"not started": func(r *process.Result) { r.Err = os.ErrNotExist },
	} {
		r := said
		end(&r)
		if got := denial(r); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestTimeoutOfPreToolUseDoesNotDeny(t *testing.T) {
	v := judge(t, newCall(t, toolPayload, "  PreToolUse:\n    - {run: 'echo ''{\"decision\":\"block\"}''; exec sleep 600', timeout: 300ms}\n"))
	if v.Blocks() || v.Outcome != keeper.Failed {
		t.Errorf("got %+v, want a reported failure", v)
	}
}
