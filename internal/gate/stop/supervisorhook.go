package stop

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/supervisor"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/paths"
)

// insideReview is the answer to a reviewer's own stop, to the letter as the
// specification has it. Only that reviewer's client sees it, and ignores it.
const insideReview = `{"decision":"","":""}` + "\n"

// SupervisorHook answers a stop by the supervisor alone, as the older tool did.
// The exit code is 0 always.
func (s *Service) SupervisorHook(ctx context.Context, stdin io.Reader) (reply Reply) {
	if claude.Inside(s.Environ) {
		return Reply{Stdout: []byte(insideReview)}
	}
	defer recovered(s.logf, "panic", func(r any) { reply = notReviewed(fmt.Errorf("internal error: %v", r)) })

	payload, err := readStop(stdin)
	if err != nil {
		return s.newCall().noStop(err)
	}
	if !s.supervised(payload) {
		return nothing()
	}
	if settings.Unified(s.agentSettings(), s.startDirs(payload)...) {
		return nothing() // the chain has it reviewed, after the gates
	}
	return s.newCall().supervisorHook(ctx, payload)
}

// startDirs are where Claude Code took its settings from when it was started. Where
// the agent went since does not count: another project's hooks are not in force.
func (s *Service) startDirs(payload *hook.StopPayload) []string {
	start := cmp.Or(s.getenv("CLAUDE_PROJECT_DIR"), payload.CWD)
	dirs := []string{start}
	if top, found := paths.MainWorktree(start); found {
		dirs = append(dirs, top)
	}
	return dirs
}

// agentSettings is the file of settings that the Claude Code of an agent was given besides;
// empty where Claude Code is nobody's.
func (s *Service) agentSettings() string {
	own, err := agentdir.At(s.StateDir, agentdir.FromEnviron(s.Environ))
	if err != nil {
		return ""
	}
	return own.Path("settings.json")
}

// supervised reports whether the stop is to be reviewed. A client without the
// variable was not started supervised; without any client it is a person who asks. A
// subagent's stop is not the end of the work.
func (s *Service) supervised(payload *hook.StopPayload) bool {
	if payload.AgentID != "" {
		return false
	}
	if on, said := supervisor.Switched(s.Environ, payload.SessionID); said {
		return on
	}
	value, set := environ.Lookup(s.Environ, supervisor.Variable)
	if set && value != "1" || !set && s.getenv("CLAUDECODE") != "" {
		return false
	}
	return s.Supervisor.Supervises(s.Environ, payload.SessionID)
}

// noStop answers what is no stop.
func (c *call) noStop(err error) Reply {
	c.reject(hook.Stop, err)
	c.logf("supervisor-hook: %v", err)
	return notReviewed(err)
}

func notReviewed(err error) Reply {
	return Telling("stopgate: supervisor: nothing was reviewed: " + err.Error())
}

// nothing is an answer that says nothing.
func nothing() Reply { return Reply{Stdout: []byte("{}\n")} }

func (c *call) supervisorHook(ctx context.Context, payload *hook.StopPayload) Reply {
	rec, place := c.receiveStop(payload)
	c.warnGlobal()

	j, last := c.judgeAlone(place, func() keeper.Verdict {
		call := c.keeperCall(payload, place)
		timeout := settings.SupervisorTimeout(c.claudeDirs(payload, place.Project)...)
		verdict := c.askAlone(ctx, supervisor.Alone{Keeper: c.Supervisor}, call, timeout)
		if call.Observes() {
			return verdict.Observed()
		}
		return verdict
	})
	c.concludeAlone(rec, payload, place, j, "supervisor-hook runs no gates")
	return c.supervisorReply(last)
}

// supervisorReply prints nothing at all where the reviews are at their limit.
func (c *call) supervisorReply(v keeper.Verdict) Reply {
	if v.Status == string(supervisor.LimitReached) {
		return Reply{}
	}
	if v.Blocks() {
		return Reply{Stdout: hook.Block(hook.Stop, v.Reason).Bytes()}
	}
	messages := c.messages(nil, v.Message)
	if len(messages) == 0 {
		return nothing()
	}
	return Telling("stopgate: " + strings.Join(messages, "\n"))
}
