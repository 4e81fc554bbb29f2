package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The state goes with CCC_WORK_DIR, what a person writes with the client's own
// directory.
func TestRuling41Directories(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		variables              []string // relative to the desk
		state, config, clients string   // likewise; clients is CLAUDE_CONFIG_DIR of the client, empty for none
	}{
		"none":             {nil, "home/.claude/ccc", "home/.claude", ""},
		"CCC_CONFIG_DIR":   {[]string{"CCC_CONFIG_DIR"}, "CCC_CONFIG_DIR/ccc", "CCC_CONFIG_DIR", "CCC_CONFIG_DIR"},
		"CCC_WORK_DIR":     {[]string{"CCC_WORK_DIR"}, "CCC_WORK_DIR/ccc", "home/.claude", ""},
		"both of ccc's":    {[]string{"CCC_CONFIG_DIR", "CCC_WORK_DIR"}, "CCC_WORK_DIR/ccc", "CCC_CONFIG_DIR", "CCC_CONFIG_DIR"},
		"the client's own": {[]string{"CLAUDE_CONFIG_DIR"}, "home/.claude/ccc", "CLAUDE_CONFIG_DIR", "CLAUDE_CONFIG_DIR"},
		"all":              {[]string{"CLAUDE_CONFIG_DIR", "CCC_CONFIG_DIR", "CCC_WORK_DIR"}, "CCC_WORK_DIR/ccc", "CCC_CONFIG_DIR", "CCC_CONFIG_DIR"},
	} {
		for _, form := range []string{"absolute", "relative"} {
			t.Run(name+" "+form, func(t *testing.T) {
				d := newDesk(t)
				for _, variable := range tt.variables {
					dir := d.beside(variable)
					check(t, os.Mkdir(dir, 0o700))
					if form == "relative" {
						dir = "../" + variable
					}
					d.set(variable + "=" + dir)
				}
				// Only the right directory has a ccc.json that says anything.
				spill(t, d.claude("ccc.json"), `{}`)
				spill(t, filepath.Join(d.beside(tt.config), "ccc.json"), `{"providers":{"glm":{}},"supervisor":{"max_iterations":3}}`)
				spill(t, filepath.Join(d.beside(tt.config), "SUPERVISOR.md"), "from the right place")
				d.set("CCC_SUPERVISOR=1")
				d.starts("glm")
				client := d.only()
				if entries := supervisorEntries(t, filepath.Join(d.beside(tt.config), "settings.json")); len(entries) != 1 {
					t.Errorf("entries %v", entries)
				}
				var clients []string
				if tt.clients != "" {
					clients = []string{d.beside(tt.clients)}
				}
				if got := client.variable("CLAUDE_CONFIG_DIR"); !slices.Equal(got, clients) {
					t.Errorf("the client has CLAUDE_CONFIG_DIR %q, want %q", got, clients)
				}
				for _, variable := range tt.variables {
					if strings.HasPrefix(variable, "CCC_") {
						client.has(t, variable, d.beside(variable))
					}
				}

				// The hook inherits the client's environment, and may be anywhere by then.
				d.answers(verdictLine(true, ""))
				cmd := d.start("supervisor-hook")
				cmd.Env, cmd.Dir = client.env, os.TempDir()
				a := d.answer(await(t, cmd, bytes.NewReader(d.stopPayload(nil))))
				a.allows(t)
				contains(t, a.stderr, "1/3\n")
				if got := countedAt(t, filepath.Join(d.beside(tt.state), "supervisor-abc123.json")); got.Count != 1 {
					t.Errorf("%+v", got)
				}
				if prompt := d.calls()[1].args; !strings.HasPrefix(prompt[len(prompt)-1], "from the right place\n\n") {
					t.Errorf("the prompt is %.60q", prompt[len(prompt)-1])
				}
			})
		}
	}
}

func TestRuling43BothNames(t *testing.T) {
	t.Parallel()
	for answer, feedback := range map[string]string{
		`{"completed":true,"allow_stop":true,"feedback":"x"}`:   "",
		`{"completed":true,"feedback":"x"}`:                     "",
		`{"allow_stop":true}`:                                   "",
		`{"completed":true,"allow_stop":false,"feedback":"x"}`:  "x",
		`{"completed":false,"allow_stop":true,"feedback":"x"}`:  "x",
		`{"completed":false,"allow_stop":false,"feedback":"x"}`: "x",
		`{"allow_stop":false}`:                                  "请继续完成任务",
	} {
		t.Run(answer, func(t *testing.T) {
			d := newDesk(t)
			for _, line := range []string{
				textResult(answer),
				`{"type":"result","subtype":"success","is_error":false,"result":"","structured_output":` + answer + `}`,
			} {
				d.answers(line)
				if a := d.hook(nil); feedback == "" {
					a.allows(t)
				} else {
					a.refuses(t, feedback)
				}
			}
		})
	}
}

// kin are the variables by which a client knows that it runs inside another.
var kin = []string{
	"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR",
	"CLAUDE_EFFORT", "AI_AGENT", "CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA",
}

func TestRuling44TheClientItself(t *testing.T) {
	d := newDesk(t)
	for _, name := range kin {
		d.set(name + "=" + d.root)
	}
	d.set("CCC_SUPERVISOR=1")
	d.set("CLAUDE_CONFIG_DIR=" + d.claude(""))
	d.answers(verdictLine(true, ""))
	d.hook(nil).allows(t)
	call := d.only()
	for _, flag := range []string{"-p", "--fork-session", "--verbose"} {
		if !slices.Contains(call.args, flag) {
			t.Errorf("no %s in %q", flag, call.args)
		}
	}
	for flag, value := range map[string]string{
		"--resume": "abc123", "--output-format": "stream-json", "--setting-sources": "user",
	} {
		if got := call.after(t, flag); got != value {
			t.Errorf("%s %q, want %q", flag, got, value)
		}
	}
	contains(t, call.after(t, "--settings"), `"disableAllHooks":true`)
	call.without(t, "--system-prompt")
	call.hasNot(t, kin...)
	call.has(t, "CCC_SUPERVISOR_HOOK", "1")
	call.has(t, "CLAUDE_CONFIG_DIR", d.claude(""))
	// The prompt comes last, and behind a flag that takes one value: others would
	// swallow it.
	if at := slices.Index(call.args, "--json-schema"); at != len(call.args)-3 {
		t.Errorf("what stands before the prompt: %q", call.args[:len(call.args)-1])
	}
	// The client is the one that the person chose.
	spill(t, d.beside("bin/other"), "#!/bin/sh\ncat '"+d.beside("stream")+"'\necho ran > '"+d.beside("other")+"'\n")
	spill(t, d.beside("stream"), verdictLine(false, "by the other")+"\n")
	d.set("CCC_CLAUDE=" + d.beside("bin/other"))
	d.hook(nil).refuses(t, "by the other")
}

// A prompt that is no argument reaches the client by its input.
func TestRuling44PromptsThatAreNoArgument(t *testing.T) {
	t.Parallel()
	for _, instructions := range []string{"--model evil", "- a list\n- of points", strings.Repeat("很长。", 60<<10)} {
		t.Run("", func(t *testing.T) {
			d := newDesk(t)
			spill(t, d.claude("SUPERVISOR.md"), instructions)
			d.answers(verdictLine(true, ""))
			d.hook(nil).allows(t)
			if call := d.only(); !strings.HasPrefix(call.stdin, instructions+"\n\n") || !strings.Contains(call.stdin, "StructuredOutput") {
				t.Errorf("read %.60q, arguments %.200q", call.stdin, call.args)
			}
		})
	}
}

func TestRuling45AllowedStop(t *testing.T) {
	d := newDesk(t)
	d.answers(verdictLine(true, "Everything is done, and here is why."))
	if a := d.hook(nil); a.stdout != "{}\n" {
		t.Errorf("stdout %q", a.stdout)
	}
}

func TestRuling46LimitReached(t *testing.T) {
	d := newDesk(t)
	d.countTo("abc123", "10")
	a := d.hook(nil)
	if a.stdout != "" || a.code != 0 || len(d.calls()) != 0 {
		t.Errorf("%+v, %d calls", a.result, len(d.calls()))
	}
	inOrder(t, a.stderr, "10/10\n", "[SUPERVISOR] ", "stop allowed", "max_iterations")
	if lines := d.logLines(); !slices.ContainsFunc(lines, func(line string) bool {
		return strings.Contains(line, "session_id=abc123") && strings.Contains(line, "status=limit_reached")
	}) {
		t.Errorf("the log says %q", lines)
	}
}

func TestRuling47TheLimitIsConfigurable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		own, global string
		limit       int
	}{
		"by default":        {"", "", 10},
		"ccc.json":          {`,"supervisor":{"max_iterations":2}`, "", 2},
		"the global config": {"", "supervisor: {max_iterations: 3}\n", 3},
		"both":              {`,"supervisor":{"max_iterations":2}`, "supervisor: {max_iterations: 3}\n", 2},
		"above the cap":     {`,"supervisor":{"max_iterations":20}`, "", 20},
		"no such number":    {`,"supervisor":{"max_iterations":0}`, "", 10},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			spill(t, d.claude("ccc.json"), `{"providers":{"glm":{}}`+tt.own+`}`)
			if tt.global != "" {
				d.global(tt.global)
			}
			d.countTo("abc123", fmt.Sprint(tt.limit-1))
			d.answers(verdictLine(false, "go on"))
			d.hook(nil).refuses(t, "go on")
			if a := d.hook(nil); a.stdout != "" || len(d.calls()) != 1 {
				t.Errorf("%q, %d calls", a.stdout, len(d.calls()))
			}
		})
	}
}

func TestRuling48JSONInWords(t *testing.T) {
	t.Parallel()
	const no, yes = `{"completed": false, "feedback": "go on"}`, `{"completed": true, "feedback": "fine"}`
	for text, feedback := range map[string]string{
		"I looked at it.\n\n```json\n" + no + "\n```\n":                             "go on",
		"```\n" + yes + "\n```":                                                     "",
		"First I thought\n```json\n" + no + "\n```\nbut\n```JSON\n" + yes + "\n```": "",
		"Review done. " + yes:                                                       "",
		"Review done: {not JSON} and " + no + " That is all.":                       "go on",
		`The answer is {"result": ` + yes + `} as asked.`:                           "",
		"{\"completed\": false, // because\n \"feedback\": \"go on\",}":             "go on",
		`He wrote "{" and } but no verdict.`:                                        `He wrote "{" and } but no verdict.`,
	} {
		t.Run("", func(t *testing.T) {
			d := newDesk(t)
			d.answers(textResult(text))
			if a := d.hook(nil); feedback == "" {
				a.allows(t)
			} else {
				a.refuses(t, feedback)
			}
		})
	}
}

// What is no stop gets no decision, and exit code 0. Nobody's session is touched.
func TestRuling49BadStdin(t *testing.T) {
	t.Parallel()
	for name, stdin := range map[string]string{
		"nothing": "", "blank": " \n", "no JSON": "hello", "half of it": `{"session_id":"abc123"`, "a list": `["abc123"]`,
		"null": "null", "binary": "\x00\xff\xfe", "two": `{"session_id":"abc123"}{"session_id":"abc123"}`, "no session": `{}`,
		"huge": `{"session_id":"abc123","x":"` + strings.Repeat("x", 10<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.answers(verdictLine(false, "go on"))
			a := d.answer(await(t, d.start("supervisor-hook"), strings.NewReader(stdin)))
			if a.Decision != "" || a.Reason != "" || len(d.calls()) != 0 || exists(d.state("supervisor-abc123.json")) {
				t.Errorf("%q, %d calls", a.stdout, len(d.calls()))
			}
			if a.SystemMessage == "" {
				t.Error("nobody is told")
			}
			if len(a.stdout) > 4096 {
				t.Errorf("%d bytes", len(a.stdout))
			}
		})
	}
}

func TestRuling411WhoIsReviewed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env      []string
		reviewed bool
	}{
		"a person calls the hook":        {nil, true},
		"a supervised client":            {[]string{"CCC_SUPERVISOR=1", "CLAUDECODE=1"}, true},
		"supervised, without a client":   {[]string{"CCC_SUPERVISOR=1"}, true},
		"a client started otherwise":     {[]string{"CLAUDECODE=1"}, false},
		"switched off":                   {[]string{"CCC_SUPERVISOR=0"}, false},
		"switched off in a client":       {[]string{"CCC_SUPERVISOR=0", "CLAUDECODE=1"}, false},
		"another word":                   {[]string{"CCC_SUPERVISOR=true", "CLAUDECODE=1"}, false},
		"present and empty":              {[]string{"CCC_SUPERVISOR="}, false},
		"the guard is not exactly on":    {[]string{"CCC_SUPERVISOR_HOOK=0"}, true},
		"the guard is present, but bare": {[]string{"CCC_SUPERVISOR_HOOK="}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.env = append(d.env, tt.env...)
			d.answers(verdictLine(false, "go on"))
			a := d.hook(nil)
			if tt.reviewed {
				a.refuses(t, "go on")
				return
			}
			a.allows(t)
			if len(d.calls()) != 0 || exists(d.state("supervisor-abc123.json")) {
				t.Error("there was a review")
			}
		})
	}
}

// Each of the seed's lines has its English beside it.
func TestRuling414BothLanguages(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR=1")
	stderr := d.starts("glm").stderr
	d.answers(verdictLine(false, "x"))
	stderr += d.hook(nil).stderr
	d.answers(verdictLine(true, ""))
	stderr += d.hook(nil).stderr
	for _, literal := range []string{
		"[Supervisor Mode] 日志文件:", "[SUPERVISOR HOOK] 开始执行", "[SUPERVISOR] 正在审查工作...", "请在新窗口查看日志文件了解详情",
		"[SUPERVISOR] 任务未完成", "Agent 将根据反馈继续工作", "[SUPERVISOR] 任务已完成", "允许停止",
	} {
		found := false
		for line := range strings.Lines(stderr) {
			rest, ok := strings.CutPrefix(line, literal+" · ")
			found = found || ok && len(strings.TrimSpace(rest)) > 3
		}
		if !found {
			t.Errorf("no line begins with %q and goes on in English:\n%s", literal, stderr)
		}
	}
	if !hasLine(stderr, "[SUPERVISOR] 任务已完成 · task complete") {
		t.Error("not as the ruling has it")
	}
}
