package stop

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/gate/footprint"
	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/rawjson"
)

// StopHook answers a stop by the gates alone, as the older tool did: one JSON
// object for every outcome, and exit code 0 always.
func (s *Service) StopHook(ctx context.Context, stdin io.Reader) (reply Reply) {
	defer recovered(s.logf, "panic", func(r any) {
		reply = unchecked(gauntlet.Error, fmt.Sprintf("Stop hook error: %v.", r))
	})
	if claude.Inside(s.Environ) || s.getenv(claude.ActiveVariable) != "" {
		return stopReply(gauntlet.Cycle(), keeper.Verdict{})
	}
	c := s.newCall()
	payload, err := readStop(stdin)
	if err != nil {
		return c.invalidInput(err)
	}
	if s.chained(payload) {
		return stopReply(gauntlet.Result{
			Status: gauntlet.StopHookDisabled, Message: "The gates are run by the hook that stopgate installed for this agent.",
		}, keeper.Verdict{})
	}
	return c.stopHook(ctx, payload)
}

// chained reports whether it is an agent that stops, whose client calls the chain as well: its
// gates come before the agent's signal counts, which two hooks at once could not know of each
// other.
func (s *Service) chained(payload *hook.StopPayload) bool {
	own, err := agentdir.At(s.StateDir, agentdir.FromEnviron(s.Environ))
	if err != nil {
		return false
	}
	session, err := own.Session()
	return err == nil && session.ID == payload.SessionID && settings.Unified(own.Path("settings.json"), s.startDirs(payload)...)
}

func (c *call) invalidInput(err error) Reply {
	c.reject(hook.Stop, err)
	return unchecked(gauntlet.InvalidInput, fmt.Sprintf("Invalid hook input: could not parse JSON (%v).", err))
}

// unchecked allows a stop that nobody could look at, and says so.
func unchecked(status gauntlet.Status, message string) Reply {
	return stopReply(gauntlet.Result{Status: status, Message: message}, keeper.Verdict{Message: message})
}

// StopHookFailed is the reply of a stop-hook that could not even begin.
func StopHookFailed(message string) Reply { return unchecked(gauntlet.Error, message) }

func (c *call) stopHook(ctx context.Context, payload *hook.StopPayload) Reply {
	rec, place := c.receiveStop(payload)
	start := c.Now()
	result, verdict := c.gates(ctx, payload, place)
	verdict.Keeper, verdict.Duration = "gates", c.Now().Sub(start)

	j := Judgement{Blocked: -1}
	j.add(verdict)
	note(&rec, place, j)
	c.write(rec, event.Answered)
	c.tell(payload, place.Root, j)

	c.warnGlobal()
	verdict.Message = strings.Join(append(c.messages(place.Verdicts, verdict.Message), result.Told...), "\n")
	return stopReply(result, verdict)
}

// gates asks the gauntlet, where the project may act at all.
func (c *call) gates(ctx context.Context, payload *hook.StopPayload, place Place) (gauntlet.Result, keeper.Verdict) {
	if held := c.held(place); held != nil {
		return gauntlet.Held(held.Summary), *held
	}

	stop := gauntlet.Stop{
		Options: gauntlet.Options{
			Project: place.Project, StateDir: c.StateDir, Global: c.global, Environ: c.Environ, Now: c.Now,
			Prompt: c.promptOf(payload), Session: payload.SessionID,
		},
		Active: payload.StopHookActive,
		Alone:  true,
		Log:    c.logf,
	}

	if place.Project == nil {
		result := inactive(place)
		if payload.StopHookActive {
			result = gauntlet.Cycle()
		}
		return result, gauntlet.Verdict(&result)
	}

	ctx, cancel := c.limit(ctx, settings.StopHookTimeout(c.claudeDirs(payload, place.Project)...))
	defer cancel()
	result := gauntlet.Decide(ctx, stop)
	verdict := stop.Verdict(&result)
	verdict.Trees = []event.Tree{stop.Record(&result)}
	return result, verdict
}

// promptOf names the prompt that led to a stop. Only the unified hook hears who wrote it.
func (c *call) promptOf(payload *hook.StopPayload) string {
	if prompt := footprint.NewStore(c.StateDir).Load(payload.SessionID).Prompt(); prompt != "" {
		return prompt
	}
	if payload.PromptID == "" && !payload.StopHookActive {
		return c.id // a client that names none: this is the first stop of its prompt
	}
	return payload.PromptID
}

// inactive says why a place has no project that may act.
func inactive(place Place) gauntlet.Result {
	if place.Root == "" {
		return gauntlet.Result{Status: gauntlet.NoConfig, Message: "Not a gauntlet project: there is no .gauntlet/config.yml here or above."}
	}
	if len(place.Verdicts) == 0 {
		return gauntlet.Result{Status: gauntlet.Untrusted, Message: "This project was never approved, and would run nothing: stopgate trust"}
	}
	last := place.Verdicts[len(place.Verdicts)-1]
	switch last.Status {
	case string(gauntlet.Untrusted), string(gauntlet.Off):
		return gauntlet.Result{Status: gauntlet.Status(last.Status), Message: last.Message}
	}
	return gauntlet.Result{Status: gauntlet.Error, Message: "Stop hook error: " + last.Message, ErrorMessage: last.Message}
}

// stopOutput is the older tool's answer. Claude Code ignores the keys that it does
// not know.
type stopOutput struct {
	Decision      string          `json:"decision"`
	Status        gauntlet.Status `json:"status"`
	Message       string          `json:"message"`
	Reason        string          `json:"reason,omitempty"`
	StopReason    string          `json:"stopReason,omitempty"`
	SystemMessage string          `json:"systemMessage,omitempty"`
}

func stopReply(r gauntlet.Result, v keeper.Verdict) Reply {
	out := stopOutput{Decision: "approve", Status: r.Status, Message: r.Message}
	if v.Blocks() {
		out.Decision, out.Reason, out.StopReason = "block", v.Reason, v.Reason
	}
	if v.Message != "" {
		out.SystemMessage = "stopgate: " + v.Message
	}
	text, err := rawjson.Marshal(out)
	if err != nil {
		panic(err) // strings always encode
	}
	return Reply{Stdout: append(text, '\n')}
}
