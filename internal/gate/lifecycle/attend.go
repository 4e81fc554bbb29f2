package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/pause"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// firstPatience is how long a daemon may take to be there for a subagent's question. One that
// has taken it may be away for as long as it likes: it knows of the question. So may it be
// for what the agent itself asks: its dialog is on the screen, and nothing is held up.
const firstPatience = 10 * time.Second

// Attends reports whether Attend has anything to do in a call: the Claude Code of an agent is
// about to ask a person. Questions and plans come as permissions too, while their dialog
// is on the screen already: so a person can answer here and there.
func (k *Keeper) Attends(call *keeper.Call) bool {
	a, ok := k.agentOf(call)
	if !ok {
		return false
	}
	payload, asks := call.Payload.(*hook.PermissionRequestPayload)
	return asks && a.owns(payload.SessionID)
}

// Attend passes an agent's question to a person through the daemon, and adds the person's answer to the hook's
// answer. It waits until the person answers, until the question is settled elsewhere, or until ctx ends: then the dialog of
// Claude Code stays open.
func (k *Keeper) Attend(ctx context.Context, call *keeper.Call, answer hook.Answer) (hook.Answer, keeper.Verdict) {
	a, _ := k.agentOf(call) // as Attends has seen
	payload := call.Payload.(*hook.PermissionRequestPayload)
	p := prompt{
		keeper: k, call: call, agent: a, ref: refOf(call.ID, payload.AgentID), kind: kindOf(payload.AgentID),
		asked: agentdir.Asked{Type: typeOf(payload.ToolName), Tool: payload.ToolName, Input: bounded(payload.ToolInput)},
	}
	look := p.lookout(payload) // before anybody can answer
	through, err := p.put()
	if err != nil {
		return p.failed(answer, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go notice(ctx, cancel, look)
	reply, err := p.await(ctx, through)
	if err != nil {
		return p.failed(answer, err)
	}
	return p.settle(answer, payload, reply)
}

// typeOf is what kind of a question it is that a tool has for a person.
func typeOf(tool string) string {
	switch tool {
	case "AskUserQuestion":
		return agentdir.Question
	case "ExitPlanMode":
		return agentdir.Plan
	}
	return agentdir.Permission
}

// prompt is what an agent asks, on its way.
type prompt struct {
	keeper *Keeper
	call   *keeper.Call
	agent  agent
	ref    string
	kind   string // of the one who asks
	asked  agentdir.Asked
}

// kindOf is what kind of an agent asks: a subagent waits on when its agent stops or gets a
// prompt.
func kindOf(subagent string) string {
	if subagent == "" {
		return ""
	}
	return event.Subagent
}

// put puts it on record.
func (p *prompt) put() (journal.Position, error) {
	if err := p.agent.dir.Ask(p.ref, p.asked); err != nil {
		return journal.Position{}, err
	}
	word := event.Word{Agent: p.agent.id, Kind: p.kind, Type: p.asked.Type, Prompt: p.call.Payload.Common().PromptID, Ref: p.ref}
	at, err := emitRecord(p.call, event.Record{Event: event.AgentPrompt, Word: &word})
	if err != nil {
		_ = p.agent.forget(p.ref) // nobody heard of it
	}
	return at, err
}

// Why there is no answer, where the daemon knows: nobody needs one any more, or nobody was
// ever asked, since too much is asked already.
var (
	errSettled  = errors.New("already settled elsewhere")
	errNotTaken = errors.New("the daemon does not ask a person about it")
)

// Why nobody waits for an answer any more although nobody told us.
var (
	errAnsweredThere = errors.New("answered in the terminal")
	errClaudeGone    = errors.New("the agent's Claude Code has exited")
)

// await asks for the answer until there is one. The daemon may be started anew meanwhile.
func (p *prompt) await(ctx context.Context, through journal.Position) (daemonapi.Reply, error) {
	daemon := p.keeper.Daemon()
	begun, heard := p.keeper.Now(), false
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		reply, err := daemon.Await(ctx, p.agent.id, p.ref, through)
		switch {
		case ctx.Err() != nil:
			return daemonapi.Reply{}, ending(ctx)
		case err == nil && reply.State == "answered":
			return reply, nil
		case err == nil && reply.State == "open":
			heard, wait = true, 25*time.Millisecond
		case err == nil && !reply.Over && !heard && !p.gone():
			return daemonapi.Reply{}, errNotTaken
		case err == nil, daemonapi.Code(err) == "not_found":
			return daemonapi.Reply{}, errSettled
		case final(err), !heard && p.kind == event.Subagent && p.keeper.Now().Sub(begun) > firstPatience:
			return daemonapi.Reply{}, err
		}
		if p.gone() {
			return daemonapi.Reply{}, errSettled
		}
		_ = pause.For(ctx, wait) // the next try says why
	}
}

// ending is why a context ended.
func ending(ctx context.Context) error {
	if cause := context.Cause(ctx); cause == errAnsweredThere || cause == errClaudeGone {
		return cause
	}
	return ctx.Err() // a signal is a cause of its own
}

// quietly reports whether a person need not hear why nobody waits any more.
func quietly(why error) bool {
	switch why { // and not what wraps it: a daemon that hangs is told
	case context.Canceled, context.DeadlineExceeded, errAnsweredThere, errClaudeGone:
		return true
	}
	return false
}

// final reports whether asking again would change nothing.
func final(err error) bool {
	switch daemonapi.Code(err) {
	case "":
		return errors.Is(err, daemonapi.ErrForeign) || errors.Is(err, daemonapi.ErrAnswer)
	case "unavailable", "internal", "conflict":
		return false
	}
	return true
}

// gone reports whether another hook of the agent has withdrawn it.
func (p *prompt) gone() bool {
	_, err := os.Lstat(p.agent.dir.Path("asked", p.ref+".json"))
	return errors.Is(err, fs.ErrNotExist)
}

// failed leaves the dialog of Claude Code open. It tells the daemon that this hook has stopped waiting, and tells the
// person if the question could not be asked at all.
func (p *prompt) failed(answer hook.Answer, why error) (hook.Answer, keeper.Verdict) {
	v := keeper.Verdict{Status: "withdrawn", Summary: why.Error()}
	if errors.Is(why, errSettled) || errors.Is(why, errNotTaken) {
		_ = p.agent.forget(p.ref) // the next stop does it otherwise
		if errors.Is(why, errNotTaken) {
			p.leave()
		}
		return answer, v
	}
	if !p.gone() {
		if err := p.agent.retract(p.call, p.ref); err != nil {
			p.keeper.logf("agent %s: %v", p.agent.id, err)
		}
	}
	if why == context.DeadlineExceeded || !quietly(why) {
		p.leave()
	}
	if quietly(why) {
		return answer, v
	}
	message := fmt.Sprintf("this can only be answered in the terminal: %v", why)
	p.keeper.logf("agent %s: %s", p.agent.id, message)
	return answer.Tell("stopgate: " + message), keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "not_asked", Summary: why.Error()}
}

// leave tells of a dialog that stays when our time is over, or when nobody was there to be
// asked: nobody can answer it from elsewhere any more, but a person can at the terminal. A
// daemon that is away reads it when it is back.
func (p *prompt) leave() {
	word := event.Word{Agent: p.agent.id, Type: p.asked.Type, Prompt: p.call.Payload.Common().PromptID}
	if _, err := emitRecord(p.call, event.Record{Event: event.AgentPrompt, Word: &word}); err != nil {
		p.keeper.logf("agent %s: %v", p.agent.id, err)
	}
}

// settle makes a person's answer Claude Code's.
func (p *prompt) settle(answer hook.Answer, payload *hook.PermissionRequestPayload, r daemonapi.Reply) (hook.Answer, keeper.Verdict) {
	_ = p.agent.forget(p.ref) // the next stop does it otherwise
	v := keeper.Verdict{Status: "answered", Summary: "a person answered"}
	switch p.asked.Type {
	case agentdir.Question:
		if input, ok := answered(payload.ToolUse, r); ok {
			return answer.Permit().Input(input), v
		}
	case agentdir.Plan:
		switch r.Option {
		case "accept":
			// Claude Code takes the plan from its file; without an input newer ones do not
			// take the answer.
			return answer.Permit().Input(json.RawMessage(`{}`)), v
		case "revise":
			v.Outcome = keeper.Failed
			return answer.Deny(said("A person asks you to revise the plan", r.Message)), v
		}
	case agentdir.Permission:
		switch r.Option {
		case "approve":
			return answer.Permit(), v
		case "deny":
			v.Outcome = keeper.Failed
			return answer.Deny(said("A person denied this", r.Message)), v
		}
	}
	return answer, keeper.Verdict{Status: "settled", Summary: "a person chose something else"}
}

func said(what, words string) string {
	if words == "" {
		return what + "."
	}
	return what + ", and says: " + words
}

// answered is a question's input with its answers. One answer stands for all questions where
// there are not as many: it was said to the whole.
func answered(use hook.ToolUse, r daemonapi.Reply) (json.RawMessage, bool) {
	asked, _ := use.Questions()
	answers := make(map[string]string, len(asked))
	for i, q := range asked {
		switch {
		case len(r.Answers) == 1:
			answers[q.Text] = r.Answers[0]
		case i < len(r.Answers):
			answers[q.Text] = r.Answers[i]
		case len(r.Answers) > 0 || r.Option == "cancel":
		case r.Message != "":
			answers[q.Text] = r.Message
		case r.Option != "":
			answers[q.Text] = r.Option
		}
	}
	if len(answers) == 0 {
		return nil, false
	}
	return use.WithAnswers(answers)
}

// bounded is a tool's input, with its long members cut where it is too long to be kept: a
// person reads the beginning of a file that is to be written, and no more.
func bounded(input json.RawMessage) json.RawMessage {
	const longest = 4 << 10
	if len(input) <= agentdir.MaxInput {
		return input
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		return nil
	}
	for name, value := range members {
		if len(value) > longest {
			text := string(value)
			var s string
			if json.Unmarshal(value, &s) == nil {
				text = s
			}
			members[name], _ = json.Marshal(plain.Cut(text, longest)) // a string always encodes
		}
	}
	text, err := json.Marshal(members)
	if err != nil || len(text) > agentdir.MaxInput {
		return nil
	}
	return text
}
