package supervisor

import (
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/sys/plain"
)

// console tells whoever watches the hook how far it is. Each line is there in both
// languages, unless the watcher's locale names another one than Chinese.
type console struct {
	to      io.Writer
	secrets Secrets
	english bool // and nothing else
}

const rule = "============================================================"

func (c console) begin(session string, iteration, limit int) {
	c.say(rule)
	c.both("[SUPERVISOR HOOK] ", "开始执行", "starting")
	c.say("session_id: %s", session)
	c.both("", "迭代次数", fmt.Sprintf("iteration: %d/%d", iteration, limit))
	c.say(rule)
}

func (c console) reviewing(log, output string) {
	c.both("[SUPERVISOR] ", "正在审查工作...", "reviewing the work")
	c.both("", "请在新窗口查看日志文件了解详情", "for details see the log files in another window:")
	c.say("%s", log)
	c.say("%s", output)
}

// maxSaid is how much of what a reviewer says is passed on, in bytes. All of it is in
// the file.
const maxSaid = 256 << 10

// upTo passes on what the reviewer says.
func (c console) upTo(most int) func(text string) {
	said := 0
	return func(text string) {
		if said > most {
			return
		}
		text = shorten(text, most, most)
		if said += len(text); said > most {
			text = "[…]"
		}
		c.write(plain.Text(text))
	}
}

func (c console) end(o Opinion) {
	c.say(rule)
	if o.AllowStop {
		c.both("[SUPERVISOR] ", "任务已完成", "task complete")
		if o.Feedback != "" {
			c.write(plain.Text(o.Feedback))
		}
		c.both("", "允许停止", "the agent may stop")
		return
	}
	c.both("[SUPERVISOR] ", "任务未完成", "task not complete")
	c.write(plain.Text(o.Feedback))
	c.both("", "Agent 将根据反馈继续工作", "the agent continues with this feedback")
}

// both writes one line in both languages, or in English alone.
func (c console) both(tag, chinese, english string) {
	if !c.english {
		english = chinese + " · " + english
	}
	c.say("%s%s", tag, english)
}

// say writes one line.
func (c console) say(format string, args ...any) {
	c.write(plain.Line(fmt.Sprintf(format, args...)))
}

// write never fails: a watcher that is gone changes no decision.
func (c console) write(text string) {
	_, _ = io.WriteString(c.to, c.secrets.HideString(strings.TrimRight(text, "\n"))+"\n")
}
