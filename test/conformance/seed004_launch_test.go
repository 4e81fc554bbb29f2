package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/harness/settings"
)

// 环境变量启用
func TestSupervisorEnabledByTheEnvironment(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR=1")
	d.acts(`cp "$HOME/.claude/settings.json" "$call/settings"; echo from the client; exit 7`)
	args := []string{"-p", "do it", "--resume", "--", "-x y"}
	r := d.launch(append([]string{"glm"}, args...)...)
	if r.code != 7 || r.stdout != "from the client\n" {
		t.Errorf("the client's exit code and output are not the launch's: %+v", r)
	}
	call := d.only()
	if diff := cmp.Diff(args, call.args); diff != "" {
		t.Error(diff)
	}
	call.without(t, "--settings")
	if call.stdin != "typed" || call.cwd != d.root {
		t.Errorf("the client read %q in %s", call.stdin, call.cwd)
	}
	// The file is there when the client starts, not afterwards.
	if entries := supervisorEntries(t, d.beside("calls/1/settings")); len(entries) != 1 {
		t.Errorf("entries %v", entries)
	}
}

// 环境变量未设置
func TestSupervisorPlainWithoutTheEnvironment(t *testing.T) {
	t.Parallel()
	const own = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}, \"theme\":\"dark\"}"
	for _, value := range []string{"", "CCC_SUPERVISOR=", "CCC_SUPERVISOR=0", "CCC_SUPERVISOR=true", "CCC_SUPERVISOR=2", "CCC_SUPERVISOR= 1", "CCC_SUPERVISOR=11"} {
		t.Run(value, func(t *testing.T) {
			d := newDesk(t)
			if value != "" {
				d.set(value)
			}
			if r := d.starts("glm", "-p", "x"); r.stderr != "" {
				t.Errorf("a plain launch says %q", r.stderr)
			}
			if exists(d.claude("settings.json")) || exists(d.state("")) {
				t.Error("a plain launch left something")
			}
			d.only().hasNot(t, "STOPGATE_LAUNCH", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")

			spill(t, d.claude("settings.json"), own)
			d.starts("glm")
			if got := slurp(t, d.claude("settings.json")); got != own {
				t.Errorf("the settings became %s", got)
			}
		})
	}
}

// 生成带 Hook 的 Settings
func TestSupervisorSettingsWithTheHook(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR=1")
	d.starts("glm")
	var file map[string]any
	check(t, json.Unmarshal([]byte(slurp(t, d.claude("settings.json"))), &file))
	want := map[string]any{"hooks": map[string]any{"Stop": []any{map[string]any{"hooks": []any{
		map[string]any{"type": "command", "command": d.ccc() + " supervisor-hook", "timeout": 660.0},
	}}}}}
	if diff := cmp.Diff(want, file); diff != "" {
		t.Error(diff)
	}
	if !filepath.IsAbs(d.ccc()) {
		t.Error("the path is not absolute")
	}
	// It is a line that a client can call.
	d.answers(verdictLine(false, "the tests were not run"))
	d.sh(d.ccc()+" supervisor-hook").refuses(t, "the tests were not run")
}

// sh runs a hook's command line as the client does.
func (d *desk) sh(command string) hookAnswer {
	d.t.Helper()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = d.root, d.env
	return d.answer(await(d.t, cmd, strings.NewReader(string(d.stopPayload(nil)))))
}

// Hook 命令格式
func TestSupervisorHookCommandFormat(t *testing.T) {
	t.Parallel()
	if got := settings.ShellCommand("/usr/local/bin/ccc", "supervisor-hook"); got != "/usr/local/bin/ccc supervisor-hook" {
		t.Errorf("got %q", got)
	}
	for dir, quoted := range map[string]string{
		"usr/local/bin":         "%s",
		"usr/local/with spaces": "'%s'",
		"it's $HOME; `x`":       "",
	} {
		t.Run(dir, func(t *testing.T) {
			d := newDesk(t)
			d.set("CCC_SUPERVISOR=1")
			ccc := filepath.Join(d.beside(dir), "ccc")
			check(t, os.MkdirAll(filepath.Dir(ccc), 0o700))
			check(t, os.Symlink(stopgate, ccc))
			relative, err := filepath.Rel(d.root, ccc)
			check(t, err)
			byName := "PATH=" + filepath.Dir(ccc) + ":" + filepath.Dir(d.client()) + ":/usr/bin:/bin"
			for _, call := range []struct{ name, path string }{{ccc, ""}, {relative, ""}, {"ccc", byName}} {
				cmd := &exec.Cmd{Path: ccc, Args: []string{call.name, "glm"}, Dir: d.root, Env: d.env}
				if call.path != "" {
					cmd.Env = append(slices.Clone(d.env), call.path)
				}
				if r := await(t, cmd, strings.NewReader("")); r.code != 0 {
					t.Fatalf("%+v", r)
				}
				entries := supervisorEntries(t, d.claude("settings.json"))
				if len(entries) != 1 {
					t.Fatalf("called as %s: %v", call.name, entries)
				}
				command := entries[0]["command"].(string)
				if want := strings.Replace(quoted, "%s", ccc, 1) + " supervisor-hook"; quoted != "" && command != want {
					t.Errorf("called as %s: %q, want %q", call.name, command, want)
				}
				d.answers(verdictLine(true, ""))
				d.sh(command).allows(t)
				d.acts("")
			}
		})
	}
}

// 显示 log 路径提示
func TestSupervisorShowsWhereItsLogsAre(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR=1")
	r := d.starts("glm")
	lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	want := []string{
		"[Supervisor Mode] 日志文件: · log files:",
		"  " + d.claude("ccc"),
		"  " + d.state("hook-invocation.log"),
		"  " + d.state("supervisor-<session_id>-output.jsonl"),
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// State 目录路径计算
func TestSupervisorStateDirectoryWithoutCCCWorkDir(t *testing.T) {
	d := newDesk(t)
	d.set("CCC_SUPERVISOR=1")
	r := d.starts("glm")
	contains(t, r.stderr, "  "+d.home+"/.claude/ccc\n")
	d.only().hasNot(t, "CCC_WORK_DIR")
	d.answers(verdictLine(true, ""))
	d.hook(nil).allows(t)
	if got := countedAt(t, d.home+"/.claude/ccc/supervisor-abc123.json"); got.Count != 1 {
		t.Errorf("%+v", got)
	}
}

// 自定义 State 目录
func TestSupervisorStateDirectoryOfCCCWorkDir(t *testing.T) {
	d := newDesk(t)
	work := d.beside("tmp/test")
	d.set("CCC_SUPERVISOR=1")
	d.set("CCC_WORK_DIR=" + work)
	r := d.starts("glm")
	contains(t, r.stderr, "  "+work+"/ccc\n", "  "+work+"/ccc/hook-invocation.log\n", "  "+work+"/ccc/supervisor-<session_id>-output.jsonl\n")
	d.answers(verdictLine(true, ""))
	d.hook(nil).allows(t)
	for _, name := range []string{"supervisor-abc123.json", "supervisor-abc123-output.jsonl", "hook-invocation.log"} {
		if !exists(filepath.Join(work, "ccc", name)) {
			t.Errorf("no %s", name)
		}
	}
	if exists(d.state("")) {
		t.Error("there is a state directory in the home too")
	}
}
