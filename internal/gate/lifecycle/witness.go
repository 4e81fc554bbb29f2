package lifecycle

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/sys/environ"
)

// Witness implements keeper.Witness: it keeps on record which session is the agent's and
// what the agent said last, and notices that nobody waits for an answer any more.
func (k *Keeper) Witness(call *keeper.Call) {
	if a, ok := k.agentOf(call); ok {
		k.witness(call, a)
	}
}

// WitnessAlone is Witness for a hook that names the agent itself.
func (k *Keeper) WitnessAlone(call *keeper.Call, id string) {
	if a, err := k.agent(id); err == nil && a.dir.Exists() {
		k.witness(call, a)
	}
}

func (k *Keeper) witness(call *keeper.Call, a agent) {
	var err error
	switch p := call.Payload.(type) {
	case *hook.SessionStartPayload:
		err = a.follow(call, p)
	case *hook.SessionEndPayload:
		err = errors.Join(a.leave(p), a.withdraw(call, p.SessionID, everybody))
	case *hook.StopPayload:
		err = errors.Join(k.remember(a, &p.Base, p.LastAssistantMessage, ""), a.withdraw(call, p.SessionID, p.AgentID))
	case *hook.StopFailurePayload:
		err = errors.Join(k.remember(a, &p.Base, p.LastAssistantMessage, p.Error), a.withdraw(call, p.SessionID, p.AgentID))
	case *hook.SubagentStopPayload:
		err = a.withdraw(call, p.SessionID, p.AgentID)
	}
	if err != nil {
		k.logf("agent %s: %v", a.id, err)
	}
}

// follow goes on with the agent's client into the session that came after the one it left.
// A client without a terminal is one that the agent started itself.
func (a agent) follow(call *keeper.Call, p *hook.SessionStartPayload) error {
	if p.Source != "clear" && p.Source != "resume" || environ.Get(call.Env, "CLAUDE_CODE_ENTRYPOINT") == "sdk-cli" {
		return nil
	}
	s, err := a.dir.Session()
	if err != nil || !s.Left {
		return ignoreMissing(err)
	}
	if err := a.dir.SetSession(agentdir.Session{ID: p.SessionID}); err != nil || s.ID == p.SessionID {
		return err
	}
	return emit(call, event.AgentSession, event.Word{Agent: a.id, Ref: p.SessionID})
}

// leave notes that the agent's client is about to go on in another session.
func (a agent) leave(p *hook.SessionEndPayload) error {
	if p.Reason != "clear" && p.Reason != "resume" {
		return nil
	}
	s, err := a.dir.Session()
	if err != nil || s.ID != p.SessionID || s.Left {
		return ignoreMissing(err)
	}
	return a.dir.SetSession(agentdir.Session{ID: s.ID, Left: true})
}

// remember keeps what the agent said last.
func (k *Keeper) remember(a agent, p *hook.Base, message, fault string) error {
	if p.AgentID != "" || !a.owns(p.SessionID) {
		return nil
	}
	return a.dir.SetLast(agentdir.Last{
		Message: message, Transcript: p.TranscriptPath, Cwd: p.CWD, Prompt: p.PromptID, Time: k.Now(), Error: fault,
	})
}

// everybody stands for the agent and all of its subagents.
const everybody = "*"

// withdraw tells the daemon that what the agent, or one of its subagents, has asked is
// settled: who stops does not wait. A person may have answered in the terminal, which the
// client tells no hook, and a hook that waited may have been killed.
func (a agent) withdraw(call *keeper.Call, session, who string) error {
	files, err := os.ReadDir(a.dir.Path("asked"))
	if err != nil || len(files) == 0 || !a.owns(session) {
		return ignoreMissing(err)
	}
	var faults []error
	for _, file := range files {
		ref, ours := strings.CutSuffix(file.Name(), ".json")
		if ours && (who == everybody || asker(ref) == nameOf(who)) {
			faults = append(faults, a.retract(call, ref))
		}
	}
	return errors.Join(faults...)
}

// retract says that nobody waits for the answer to that any more. It is forgotten after it was
// said, so that whoever is killed in between says it twice rather than never.
func (a agent) retract(call *keeper.Call, ref string) error {
	if err := emit(call, event.AgentPromptOver, event.Word{Agent: a.id, Ref: ref}); err != nil {
		return err
	}
	return a.forget(ref)
}

func (a agent) forget(ref string) error {
	return ignoreMissing(os.Remove(a.dir.Path("asked", ref+".json")))
}

// refOf names what is asked in a call: by the call, and by the subagent that asks.
func refOf(call, subagent string) string {
	if subagent == "" {
		return call
	}
	return call + "-" + nameOf(subagent)
}

// asker is the subagent in a name that refOf made; empty for the agent itself.
func asker(ref string) string {
	_, subagent, _ := strings.Cut(ref, "-")
	return subagent
}

// nameOf makes of a subagent's id something that can be part of a file's name.
func nameOf(subagent string) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, subagent)
	return name[:min(len(name), 64)]
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
