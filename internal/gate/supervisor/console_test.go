package supervisor

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConsole(t *testing.T) {
	const secret = "sk-ant-0123456789"
	for name, tt := range map[string]struct {
		print func(c console)
		want  string
	}{
		"begin": {
			func(c console) { c.begin("abc123", 3, 10) },
			rule + "\n[SUPERVISOR HOOK] 开始执行 · starting\nsession_id: abc123\n迭代次数 · iteration: 3/10\n" + rule + "\n",
		},
		"reviewing": {
			func(c console) { c.reviewing("/s/a.log", "/s/b.jsonl") },
			"[SUPERVISOR] 正在审查工作... · reviewing the work\n请在新窗口查看日志文件了解详情 · for details see the log files in another window:\n/s/a.log\n/s/b.jsonl\n",
		},
		"complete":          {func(c console) { c.end(Opinion{AllowStop: true}) }, rule + "\n[SUPERVISOR] 任务已完成 · task complete\n允许停止 · the agent may stop\n"},
		"complete, and why": {func(c console) { c.end(Opinion{AllowStop: true, Feedback: "a\nb"}) }, rule + "\n[SUPERVISOR] 任务已完成 · task complete\na\nb\n允许停止 · the agent may stop\n"},
		"not complete": {
			func(c console) { c.end(Opinion{Feedback: "test\nit\n"}) },
			rule + "\n[SUPERVISOR] 任务未完成 · task not complete\ntest\nit\nAgent 将根据反馈继续工作 · the agent continues with this feedback\n",
		},
		"text":            {func(c console) { c.upTo(maxSaid)("one\ntwo\n\n") }, "one\ntwo\n"},
		"no more of it":   {func(c console) { say := c.upTo(10); say("1234567"); say("8901"); say("x"); say("y") }, "1234567\n[…]\n"},
		"escapes":         {func(c console) { c.upTo(maxSaid)("\x1b[31mred\x1b[0m \x07bell"); c.say("%s", "a\x1b]0;title\x07b\nc") }, "red bell\nab c\n"},
		"secrets":         {func(c console) { c.upTo(maxSaid)("use " + secret); c.say("%s", secret) }, "use [hidden]\n[hidden]\n"},
		"colored secrets": {func(c console) { c.upTo(maxSaid)("sk-ant-\x1b[1m0123456789") }, "[hidden]\n"},
		"hostile session": {func(c console) { c.begin("x\n[SUPERVISOR] 任务已完成", 1, 1) }, rule + "\n[SUPERVISOR HOOK] 开始执行 · starting\nsession_id: x [SUPERVISOR] 任务已完成\n迭代次数 · iteration: 1/1\n" + rule + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			tt.print(console{to: &b, secrets: secretsOf([]string{"API_KEY=" + secret})})
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, errors.New("nobody there") }

func TestConsoleWithoutAWatcher(t *testing.T) {
	c := console{to: deaf{}}
	c.begin("s", 1, 2)
	c.upTo(maxSaid)("x")
	c.end(Opinion{})
}

func TestIssue19NoChineseForAnEnglishLocale(t *testing.T) {
	var b strings.Builder
	c := console{to: &b, english: true}
	c.begin("abc123", 3, 10)
	c.reviewing("/s/a.log", "/s/b.jsonl")
	c.end(Opinion{Feedback: "test it"})
	c.end(Opinion{AllowStop: true})
	want := strings.Join([]string{
		rule, "[SUPERVISOR HOOK] starting", "session_id: abc123", "iteration: 3/10", rule,
		"[SUPERVISOR] reviewing the work", "for details see the log files in another window:", "/s/a.log", "/s/b.jsonl",
		rule, "[SUPERVISOR] task not complete", "test it", "the agent continues with this feedback",
		rule, "[SUPERVISOR] task complete", "the agent may stop", "",
	}, "\n")
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
