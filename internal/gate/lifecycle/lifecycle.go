// Package lifecycle is the keeper that holds an agent to its runbook: it may stop when it
// has signalled, or its stop is what its on_stop makes of it. It also puts what the agent
// asks to a person, and brings the answer back.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/stopgate/stopgate/internal/agents/agentdir"
	"github.com/stopgate/stopgate/internal/agents/daemonapi"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/harness/settings"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
)

// Keeper looks after the agents that the daemon started. In a session that is no agent's it
// costs one look at the environment.
type Keeper struct {
	StateDir string
	Daemon   func() *daemonapi.Client // made only where it is asked
	Program  func() string            // by which an agent signals: an absolute path
	Parent   func() int               // the process that calls the hook: Claude Code, or its shell
	Now      func() time.Time
	Stderr   io.Writer
}

var (
	_ keeper.Keeper  = (*Keeper)(nil)
	_ keeper.Witness = (*Keeper)(nil)
)

// Name implements keeper.Keeper.
func (*Keeper) Name() string { return "lifecycle" }

// MaxBlocks implements keeper.Keeper: the second stop of a prompt is let pass.
func (*Keeper) MaxBlocks() int { return 1 }

// Applies implements keeper.Keeper. A subagent's stop is not the agent's, and clients that
// the agent starts itself have its environment, but another session.
func (k *Keeper) Applies(call *keeper.Call) bool {
	a, ok := k.agentOf(call)
	if !ok {
		return false
	}
	payload, isStop := call.Payload.(*hook.StopPayload)
	return isStop && payload.AgentID == "" && a.owns(payload.SessionID)
}

// Judge implements keeper.Keeper.
func (k *Keeper) Judge(ctx context.Context, call *keeper.Call) keeper.Verdict {
	a, _ := k.agentOf(call) // as Applies has seen
	return k.judge(ctx, call, a)
}

// Alone judges a stop by an agent's lifecycle alone, for a hook that names the agent itself.
// An agent that nobody knows is held by nobody.
func (k *Keeper) Alone(ctx context.Context, call *keeper.Call, id string) keeper.Verdict {
	a, err := k.agent(id)
	if err != nil || !a.dir.Exists() {
		return passed("unknown_agent", "unknown agent")
	}
	payload := call.Payload.Common()
	session, err := a.dir.Session()
	switch {
	case payload.AgentID != "":
		return passed("subagent", "this is a subagent's stop, not the agent's")
	case payload.SessionID != "" && err == nil && session.ID != payload.SessionID:
		return passed("other_session", "this is not the agent's own session")
	}
	return k.judge(ctx, call, a)
}

// agent is one that the daemon started.
type agent struct {
	id  string
	dir agentdir.Dir
}

func (k *Keeper) agent(id string) (agent, error) {
	dir, err := agentdir.At(k.StateDir, id)
	return agent{id, dir}, err
}

// agentOf is the agent in whose environment a call is made.
func (k *Keeper) agentOf(call *keeper.Call) (agent, bool) {
	id := agentdir.FromEnviron(call.Env)
	if id == "" {
		return agent{}, false
	}
	a, err := k.agent(id)
	return a, err == nil
}

// owns reports whether the session is the one on record for the agent.
func (a agent) owns(session string) bool {
	s, err := a.dir.Session()
	return err == nil && s.ID == session
}

// judge lets an agent go that has signalled, that failed for reasons of its API, or that was
// held back before.
func (k *Keeper) judge(ctx context.Context, call *keeper.Call, a agent) keeper.Verdict {
	if call.BlockedBefore {
		if fault, found := k.apiError(call); found {
			return k.park(call, a, fault)
		}
		return passed("blocked_before", "already blocked once for this prompt")
	}
	signal, err := k.Daemon().Signal(ctx, a.id, call.Received)
	if err == nil && signal.Signaled {
		return passed("signaled", heardOf(signal))
	}
	if ctx.Err() != nil {
		return keeper.Verdict{Outcome: keeper.CouldNotRun}
	}
	if fault, found := k.apiError(call); found {
		return k.park(call, a, fault)
	}
	if err != nil {
		return k.unheld(call, a, err)
	}
	return k.hold(call, a)
}

func heardOf(s daemonapi.Signal) string {
	if s.Kind == "" {
		return "no pipeline or run needs the agent now"
	}
	return "the agent signalled " + s.Kind
}

// hold is what on_stop makes of a stop.
func (k *Keeper) hold(call *keeper.Call, a agent) keeper.Verdict {
	word := event.Word{Agent: a.id, Prompt: call.Payload.Common().PromptID}
	switch a.dir.OnStop() {
	case agentdir.Idle:
		if err := emit(call, event.AgentIdle, word); err != nil {
			return untold(err)
		}
		return held("idle", "Stop hook: on_idle handler invoked. Continue working or signal completion.")
	case agentdir.Escalate:
		if err := emit(call, event.AgentStop, word); err != nil {
			return untold(err)
		}
		return held("escalated", "A human has been notified. Wait for instructions or signal completion.")
	}
	return held("not_signaled", k.mustSignal(a.id))
}

// mustSignal is the command that an agent is to run, ready to be pasted. Its first words are the specification's.
func (k *Keeper) mustSignal(id string) string {
	command := "You must explicitly signal completion before stopping. Run: " + settings.ShellCommand(k.Program(), "emit", event.AgentSignal, "--agent", id, "complete")
	var f keeper.Frame
	if !f.Say("%s", command) {
		return command // half of it is of no use
	}
	f.Say("\nIf it cannot be done, write fail instead of complete. If a person has to decide something, write escalate instead of complete, or '%s'.",
		`{"kind":"escalate","message":"what they should know"}`)
	return f.Text
}

// unheld is the verdict where nobody can say whether the agent has signalled.
func (k *Keeper) unheld(call *keeper.Call, a agent, err error) keeper.Verdict {
	what := fmt.Sprintf("cannot tell whether agent %s has signalled: %v", a.id, err)
	if call.Global.Lifecycle.WhenDaemonDown == config.BlockWhenDown {
		k.logf("%s; its stop was blocked (lifecycle.when_daemon_down: block)", what)
		v := held("daemon_down", k.mustSignal(a.id))
		v.Message = what
		return v
	}
	what += "; it was allowed to stop"
	k.logf("%s", what)
	return keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "daemon_down", Message: what + ". See: stopgate daemon status"}
}

// untold is the verdict where the daemon cannot be told of a stop. Holding the agent back
// would say that somebody was.
func untold(err error) keeper.Verdict {
	return keeper.Verdict{Outcome: keeper.CouldNotRun, Status: "journal", Message: "cannot record that the agent stops: " + err.Error()}
}

func passed(status, summary string) keeper.Verdict {
	return keeper.Verdict{Status: status, Summary: summary}
}

func held(status, reason string) keeper.Verdict {
	return keeper.Verdict{Outcome: keeper.Failed, Status: status, Reason: reason, Summary: "the agent has not signalled"}
}

// emit puts a word about an agent on record, for the daemon.
func emit(call *keeper.Call, name string, word event.Word) error {
	_, err := emitRecord(call, event.Record{Event: name, Word: &word})
	return err
}

func emitRecord(call *keeper.Call, r event.Record) (journal.Position, error) {
	if call.Journal == nil {
		return journal.Position{}, errors.New("no journal")
	}
	r.Call, r.Kind = journal.NewID(), event.Emitted
	r.Session = call.Payload.Common().SessionID
	return call.Journal.Append(&r)
}

func (k *Keeper) logf(format string, args ...any) {
	out := k.Stderr
	if out == nil {
		out = os.Stderr
	}
	fmt.Fprintf(out, "stopgate: "+format+"\n", args...)
}
