package conformance

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// 正常 Hook 调用（使用 Claude Agent SDK）. Ruling 4.4: the client itself in place of the
// SDK. It finds the session with its whole context only in the directory in which
// that was started, and with the same configuration.
func TestSupervisorNormalHookCall(t *testing.T) {
	d := newDesk(t)
	started := d.beside("tmp")
	d.set("CLAUDE_PROJECT_DIR=" + started)
	d.set("CLAUDE_CONFIG_DIR=" + d.claude(""))
	d.set("ANTHROPIC_BASE_URL=http://localhost:1")
	d.answers(initLine, saysLine, verdictLine(false, "Run the tests."))
	a := d.hook(map[string]any{"last_assistant_message": "All done, I think."})
	a.refuses(t, "Run the tests.")
	if want := `{"decision":"block","reason":"Run the tests."}` + "\n"; a.stdout != want {
		t.Errorf("stdout %q, want %q", a.stdout, want)
	}
	call := d.only()
	if !slices.Contains(call.args, "--fork-session") || call.after(t, "--resume") != "abc123" {
		t.Errorf("not a copy of the session: %q", call.args)
	}
	if call.cwd != started || call.stdin != "" {
		t.Errorf("in %s, stdin %q", call.cwd, call.stdin)
	}
	call.has(t, "CLAUDE_CONFIG_DIR", d.claude(""))
	call.has(t, "ANTHROPIC_BASE_URL", "http://localhost:1")
	contains(t, call.args[len(call.args)-1], "All done, I think.")

	d.answers(initLine, verdictLine(true, "Done and tested."))
	d.hook(nil).allows(t)
}

// 解析 Supervisor 结果
func TestSupervisorResultParsing(t *testing.T) {
	for name, tt := range map[string]struct {
		line     string
		feedback string // empty: the agent may stop
	}{
		"complete":                    {textResult(`{"completed":true,"feedback":"good"}`), ""},
		"not complete":                {textResult(`{"completed":false,"feedback":"more <b> & \"more\""}`), `more <b> & "more"`},
		"by the other name, complete": {textResult(`{"allow_stop":true,"feedback":"good"}`), ""},
		"by the other name, not":      {textResult(`{"allow_stop":false,"feedback":"more"}`), "more"},
		"over lines":                  {textResult("\n {\n \"completed\": false,\n \"feedback\": \"第一行\\n第二行\"\n}\n"), "第一行\n第二行"},
		"without words":               {textResult(`{"completed":false,"feedback":""}`), "请继续完成任务"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.answers(initLine, tt.line)
			a := d.hook(nil)
			if tt.feedback == "" {
				a.allows(t)
			} else {
				a.refuses(t, tt.feedback)
			}
			var state struct {
				Last struct {
					AllowStop *bool  `json:"allow_stop"`
					Feedback  string `json:"feedback"`
				} `json:"last"`
			}
			check(t, json.Unmarshal([]byte(slurp(t, d.state("supervisor-abc123.json"))), &state))
			if last := state.Last; last.AllowStop == nil || *last.AllowStop != (tt.feedback == "") || tt.feedback != "" && last.Feedback != tt.feedback {
				t.Errorf("kept as %s", slurp(t, d.state("supervisor-abc123.json")))
			}
		})
	}
}

// insideReview is the answer to a reviewer's own stop.
const insideReview = `{"decision":"","":""}`

// 检测到环境变量跳过执行
func TestSupervisorSkippedInsideAReview(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR_HOOK=1")
	d.set("CCC_SUPERVISOR=1")
	r := await(t, d.start("supervisor-hook"), neverRead(t)) // at once: nobody closes its input
	if r.code != 0 || r.stdout != insideReview+"\n" || r.stderr != "" {
		t.Errorf("%+v", r)
	}
	if len(d.calls()) != 0 || exists(d.state("")) {
		t.Error("it did more than answer")
	}
}

// Supervisor Claude 启动时设置环境变量
func TestSupervisorReviewerCarriesTheVariable(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR_HOOK=0")
	d.answers(verdictLine(true, ""))
	d.acts(`sh -c env > "$call/inherited"; cat '` + d.beside("stream") + "'")
	d.hook(nil).allows(t)
	d.only().has(t, "CCC_SUPERVISOR_HOOK", "1")
	if !hasLine(slurp(t, d.beside("calls/1/inherited")), "CCC_SUPERVISOR_HOOK=1") {
		t.Error("what the reviewer starts does not inherit it")
	}
}

// 完整防死循环流程. The stand-in calls the hook at its own stop, as a client would whose
// hooks cannot be switched off.
func TestSupervisorNeverReviewsItself(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR=1")
	spill(t, d.beside("own.json"), string(d.stopPayload(map[string]any{"session_id": "fork"})))
	spill(t, d.beside("stream"), verdictLine(true, "")+"\n")
	d.acts(`'` + d.ccc() + `' supervisor-hook < '` + d.beside("own.json") + `' > "$call/second"; echo $? >> "$call/second"; cat '` + d.beside("stream") + "'")
	d.hook(nil).allows(t)
	d.only().has(t, "CCC_SUPERVISOR_HOOK", "1") // one call: the second hook started no reviewer
	if got := slurp(t, d.beside("calls/1/second")); got != insideReview+"\n0\n" {
		t.Errorf("the reviewer's own stop was answered %q", got)
	}
	if d.counted("abc123").Count != 1 || exists(d.state("supervisor-fork.json")) {
		t.Error("the reviewer's own stop was counted")
	}
}

// 迭代次数限制
func TestSupervisorIterationLimit(t *testing.T) {
	t.Parallel()
	for _, count := range []string{"10", "11", "1e9"} {
		t.Run(count, func(t *testing.T) {
			d := newDesk(t)
			d.countTo("abc123", count)
			d.answers(verdictLine(false, "never asked"))
			if a := d.hook(nil); a.stdout != "" {
				t.Errorf("stdout %q", a.stdout)
			}
			if len(d.calls()) != 0 {
				t.Error("there was a review")
			}
			if got := d.counted("abc123"); got.Count < 10 {
				t.Errorf("the count became %d", got.Count)
			}
		})
	}
}

// 迭代次数递增
func TestSupervisorIterationIsCounted(t *testing.T) {
	d := newDesk(t)
	d.countTo("abc123", "3")
	d.answers(verdictLine(false, "go on"))
	d.hook(nil).refuses(t, "go on")
	d.only()
	if got := d.counted("abc123"); got.Count != 4 || !strings.HasPrefix(got.CreatedAt, "2026-01-06T10:00:00") {
		t.Errorf("%+v", got)
	}
	// Six more, and the next is let go.
	for range 6 {
		d.hook(nil).refuses(t, "go on")
	}
	if a := d.hook(nil); a.stdout != "" || d.counted("abc123").Count != 10 || len(d.calls()) != 7 {
		t.Errorf("%q, %+v, %d calls", a.stdout, d.counted("abc123"), len(d.calls()))
	}
}

// 状态目录确定
func TestSupervisorStateDirectoryOfCCCConfigDir(t *testing.T) {
	d := newDesk(t)
	custom := d.beside("custom/path")
	d.set("CCC_CONFIG_DIR=" + custom)
	d.answers(verdictLine(true, ""))
	d.hook(nil).allows(t)
	for _, name := range []string{"supervisor-abc123.json", "supervisor-abc123-output.jsonl", "hook-invocation.log"} {
		if !exists(filepath.Join(custom, "ccc", name)) {
			t.Errorf("no %s", name)
		}
	}
	if exists(d.state("")) {
		t.Error("there is a state directory in the home too")
	}
}

// 状态目录默认值
func TestSupervisorStateDirectoryByDefault(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_CONFIG_DIR=") // as good as not set
	d.answers(verdictLine(true, ""))
	d.hook(nil).allows(t)
	for _, name := range []string{"supervisor-abc123.json", "supervisor-abc123-output.jsonl", "hook-invocation.log"} {
		if !exists(filepath.Join(d.home, ".claude", "ccc", name)) {
			t.Errorf("no %s", name)
		}
	}
}

// 状态文件路径
func TestSupervisorStateFilePath(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_CONFIG_DIR=.claude") // relative, as the scenario has it
	d.answers(verdictLine(true, ""))
	d.hook(map[string]any{"session_id": "abc123"}).allows(t)
	if !exists(d.path(".claude/ccc/supervisor-abc123.json")) {
		t.Error("no .claude/ccc/supervisor-abc123.json")
	}
}

// 状态文件结构
func TestSupervisorStateFileStructure(t *testing.T) {
	d := newDesk(t)
	d.answers(verdictLine(false, "go on"))
	before := time.Now().Truncate(time.Millisecond)
	d.hook(nil)
	first := d.counted("abc123")
	if first.SessionID != "abc123" || first.Count != 1 {
		t.Errorf("%+v", first)
	}
	created, updated := moment(t, first.CreatedAt), moment(t, first.UpdatedAt)
	if created.Before(before) || updated.Before(created) || updated.After(time.Now()) {
		t.Errorf("created %s, updated %s, began at %s", created, updated, before)
	}
	d.hook(nil)
	second := d.counted("abc123")
	if second.Count != 2 || second.CreatedAt != first.CreatedAt || moment(t, second.UpdatedAt).Before(updated) {
		t.Errorf("%+v after %+v", second, first)
	}
}

// moment reads an ISO 8601 time in UTC.
func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !strings.HasSuffix(text, "Z") {
		t.Errorf("%q is no ISO 8601 time in UTC: %v", text, err)
	}
	return at
}

// seedSchema is the schema as the seed has it.
const seedSchema = `{
  "type": "object",
  "properties": {
    "completed": {"type": "boolean"},
    "feedback": {"type": "string"}
  },
  "required": ["completed", "feedback"]
}`

// Supervisor 命令构建
func TestSupervisorCommand(t *testing.T) {
	d := newDesk(t)
	const instructions = "你是严格的审查者..."
	spill(t, d.claude("SUPERVISOR.md"), instructions+"\n")
	d.answers(verdictLine(true, ""))
	d.hook(map[string]any{"session_id": "abc123"}).allows(t)
	call := d.only()
	for _, flag := range []string{"--fork-session", "--verbose", "-p"} {
		if !slices.Contains(call.args, flag) {
			t.Errorf("no %s in %q", flag, call.args)
		}
	}
	if slices.Contains(call.args, "--print") {
		t.Error("--print")
	}
	if got := call.after(t, "--resume"); got != "abc123" {
		t.Errorf("--resume %q", got)
	}
	if got := call.after(t, "--output-format"); got != "stream-json" {
		t.Errorf("--output-format %q", got)
	}
	contains(t, call.after(t, "--json-schema"), `"completed"`, `"feedback"`)
	call.without(t, "--system-prompt", "--append-system-prompt", "--system-prompt-file")
	prompt := call.args[len(call.args)-1]
	if !strings.HasPrefix(prompt, instructions+"\n\n") {
		t.Errorf("the prompt begins with %.60q", prompt)
	}
	contains(t, prompt, "StructuredOutput", `"completed"`, `"feedback"`, "abc123") // the specific instructions
	call.has(t, "CCC_SUPERVISOR_HOOK", "1")
}

// 解析 stream-json
func TestSupervisorStream(t *testing.T) {
	d := newDesk(t)
	lines := []string{
		initLine,
		saysLine,
		`{"type":"text","content":"at the top level"}`,
		`{"type":"text","text":"by another name"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"said by a tool"}]}]}}`,
		`no JSON at all`,
		`{"type":"new","kind":"of message","z":1,"a":2}`,
		// The text says the contrary of what is structured.
		strings.Replace(verdictLine(false, "The README is missing."), `"result":"{`, `"result":"{\"completed\":true} {`, 1),
	}
	d.answers(lines...)
	a := d.hook(nil)
	a.refuses(t, "The README is missing.")
	inOrder(t, a.stderr, "I look at the tree. 我在看。", "at the top level", "by another name", "[SUPERVISOR] 任务未完成", "The README is missing.")
	if strings.Contains(a.stderr, "said by a tool") || strings.Contains(a.stderr, `"type"`) {
		t.Errorf("more than the text is on stderr:\n%s", a.stderr)
	}
	if diff := cmp.Diff(strings.Join(lines, "\n")+"\n", slurp(t, d.state("supervisor-abc123-output.jsonl"))); diff != "" {
		t.Error(diff)
	}
}

// 结果 JSON Schema
func TestSupervisorResultSchema(t *testing.T) {
	d := newDesk(t)
	d.answers(verdictLine(true, ""))
	d.hook(nil).allows(t)
	var want, got any
	check(t, json.Unmarshal([]byte(seedSchema), &want))
	check(t, json.Unmarshal([]byte(d.only().after(t, "--json-schema")), &got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// A structured answer that does not meet it is no verdict; the words beside it are.
	for answer, feedback := range map[string]string{
		`{"completed":"true","feedback":"x"}`: "words beside it",
		`{"feedback":"x"}`:                    "words beside it",
		`["completed"]`:                       "words beside it",
		`null`:                                "words beside it",
	} {
		line := strings.Replace(textResult("words beside it"), `"session_id"`, `"structured_output":`+answer+`,"session_id"`, 1)
		d.answers(line)
		d.hook(nil).refuses(t, feedback)
	}
}

// Hook 调用开始
func TestSupervisorTellsThatItStarts(t *testing.T) {
	d := newDesk(t)
	d.countTo("abc123", "3")
	d.answers(verdictLine(true, ""))
	a := d.hook(nil)
	inOrder(t, a.stderr, "====", "[SUPERVISOR HOOK] 开始执行 · ", "session_id: abc123\n", "4/10\n", "====", "正在审查")
}

// Supervisor 调用中
func TestSupervisorTellsThatItReviews(t *testing.T) {
	d := newDesk(t)
	d.answers(saysLine, verdictLine(true, ""))
	a := d.hook(nil)
	inOrder(t, a.stderr, "[SUPERVISOR] 正在审查工作... · ", "请在新窗口查看日志文件了解详情 · ",
		d.state("hook-invocation.log"), d.state("supervisor-abc123-output.jsonl"), "I look at the tree.")
}

// 审查结果输出
func TestSupervisorTellsWhatIsMissing(t *testing.T) {
	d := newDesk(t)
	d.answers(verdictLine(false, "第一，跑测试。\nSecond, push."))
	a := d.hook(nil)
	inOrder(t, a.stderr, "[SUPERVISOR] 任务未完成 · ", "第一，跑测试。\nSecond, push.\n", "Agent 将根据反馈继续工作 · ")
	if strings.Contains(a.stderr, "任务已完成") || strings.Contains(a.stderr, "允许停止") {
		t.Errorf("both results:\n%s", a.stderr)
	}
}

// 任务完成
func TestSupervisorTellsThatTheWorkIsComplete(t *testing.T) {
	d := newDesk(t)
	d.answers(verdictLine(true, "Tested."))
	a := d.hook(nil)
	a.allows(t)
	inOrder(t, a.stderr, "[SUPERVISOR] 任务已完成 · ", "允许停止 · ")
	if strings.Contains(a.stderr, "任务未完成") || strings.Contains(a.stderr, "继续工作") {
		t.Errorf("both results:\n%s", a.stderr)
	}
}

// logged is a line of hook-invocation.log.
var logged = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([a-z].*?)((?: [a-z_]+=(?:"(?:[^"\\]|\\.)*"|\S+))*)$`)

// logLines reads the log, whose every line must be one.
func (d *desk) logLines() (lines []string) {
	d.t.Helper()
	for line := range strings.Lines(slurp(d.t, d.state("hook-invocation.log"))) {
		line = strings.TrimSuffix(line, "\n")
		parts := logged.FindStringSubmatch(line)
		if parts == nil {
			d.t.Fatalf("no line of a log: %q", line)
		}
		moment(d.t, parts[1])
		lines = append(lines, parts[2]+parts[3])
	}
	return lines
}

// hook-invocation.log 格式
func TestSupervisorInvocationLog(t *testing.T) {
	d := newDesk(t)
	d.countTo("abc123", "8")
	d.answers(verdictLine(false, "one\ntwo \"three\" a=b"))
	d.hook(nil)
	d.hook(nil)
	d.hook(nil) // at the limit
	d.hook(map[string]any{"session_id": "other"})
	lines := d.logLines()
	for _, want := range []string{
		"supervisor-hook invoked session_id=abc123 iteration=9/10",
		"supervisor-hook invoked session_id=abc123 iteration=10/10",
		"supervisor-hook invoked session_id=other iteration=1/10",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no %q in %q", want, lines)
		}
	}
	invoked := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "supervisor-hook invoked ") {
			invoked++
		}
	}
	if invoked != 4 {
		t.Errorf("%d of 4 calls are in the log: %q", invoked, lines)
	}
}

// supervisor 输出日志格式
func TestSupervisorOutputLog(t *testing.T) {
	d := newDesk(t)
	first := []string{`  {"type" : "system", "é":"\u00e9" }  `, "", "\tnot JSON \x01", saysLine, verdictLine(false, "missing: tests")}
	d.answers(first...)
	d.hook(nil)
	second := []string{initLine, verdictLine(true, "fine")}
	d.answers(second...)
	d.hook(nil)
	want := strings.Join(append(first, second...), "\n") + "\n"
	if diff := cmp.Diff(want, slurp(t, d.state("supervisor-abc123-output.jsonl"))); diff != "" {
		t.Error(diff)
	}
	var summaries []string
	for _, line := range d.logLines() {
		if strings.HasPrefix(line, "review finished ") {
			summaries = append(summaries, line)
		}
	}
	if len(summaries) != 2 {
		t.Fatalf("summaries %q", summaries)
	}
	contains(t, summaries[0], "session_id=abc123", "status=not_completed", `"missing: tests"`)
	contains(t, summaries[1], "session_id=abc123", "status=completed", "fine")
}

// 解析失败时使用原始内容作为 feedback
func TestSupervisorTextIsFeedback(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"任务还没有完成，请运行测试。", "Not done: {the tests} are \"red\".\nGo on.", `{"completed": true, "feedback": "cut of`, "[]", "42",
		`{"feedback":"no verdict"}`, "```json\n{}\n```", "true",
	} {
		t.Run("", func(t *testing.T) {
			d := newDesk(t)
			d.answers(initLine, textResult(text))
			d.hook(nil).refuses(t, text)
			inOrder(t, d.hook(nil).stderr, "任务未完成", text, "继续工作")
		})
	}
}

// 空结果时的默认反馈
func TestSupervisorDefaultFeedback(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "  \n\t", "\u3000"} {
		t.Run("", func(t *testing.T) {
			d := newDesk(t)
			d.answers(initLine, textResult(text))
			a := d.hook(nil)
			a.refuses(t, "请继续完成任务")
			inOrder(t, a.stderr, "任务未完成", "请继续完成任务", "继续工作")
		})
	}
}
