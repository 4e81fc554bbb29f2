// Package keeper says what a keeper is: something that looks at one hook call and
// gives a verdict on it.
package keeper

import (
	"context"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet/change"
	"github.com/stopgate/stopgate/internal/gate/trust"
	"github.com/stopgate/stopgate/internal/harness/claude"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/project/config"
	"github.com/stopgate/stopgate/internal/record/event"
	"github.com/stopgate/stopgate/internal/record/journal"
	"github.com/stopgate/stopgate/internal/sys/environ"
	"github.com/stopgate/stopgate/internal/sys/plain"
)

// Outcome is the result of looking. "Could not run" is neither of the others:
// it says nothing about the work, so it never blocks an agent.
type Outcome int

// The three outcomes.
const (
	Passed Outcome = iota
	Failed
	CouldNotRun
)

func (o Outcome) String() string {
	switch o {
	case Passed:
		return "passed"
	case Failed:
		return "failed"
	}
	return "could_not_run"
}

// Verdict is what a keeper makes of a call.
type Verdict struct {
	Keeper   string        // its name; the chain fills it in
	Start    time.Time     // when the chain asked; the chain sets it
	Duration time.Duration // of the look; the chain as well

	Outcome Outcome
	Status  string // one word that says more than the outcome
	Message string // for the person; empty when there is nothing to tell
	Reason  string // for the agent; not empty on a failed verdict: it blocks
	Summary string // for the journal, in place of the message; holds no output of commands
	Notify  bool   // the message is one that a person must not miss
	Cost    event.Cost
	// Uncounted means that a block says nothing about the work, and is not counted against it.
	Uncounted bool
	Reused    bool         // of an earlier call, without another look
	Trees     []event.Tree // that were looked at
	// NeedsPerson means that nothing goes on by itself after the stop: a person has to
	// decide.
	NeedsPerson bool
	// PerTree means that the keeper has looked at the mode of each tree itself.
	PerTree bool
}

// Blocks reports whether the verdict objects to the call.
func (v Verdict) Blocks() bool { return v.Outcome == Failed && v.Reason != "" }

// WouldBlock is the status of a verdict that objects where nothing is blocked.
const WouldBlock = "would_block"

// Observed is the verdict where nothing is blocked: it says what would have been.
func (v Verdict) Observed() Verdict {
	if !v.Blocks() {
		return v
	}
	v.Status, v.Reason = WouldBlock, ""
	v.Message = "mode: observe, so nothing is blocked; would have been blocked: " + v.Summary
	return v
}

// About is the verdict on a tree that is not the call's own: what a person reads of it names the
// project.
func (v Verdict) About(root string) Verdict {
	for _, text := range []*string{&v.Message, &v.Summary} {
		if *text != "" {
			*text = plain.Name(root) + ": " + *text
		}
	}
	return v
}

// Call is one hook call, as keepers see it.
type Call struct {
	Payload hook.Payload
	Raw     []byte   // the payload as it came
	Env     []string // of the hook's process
	Global  *config.Global
	Project *Project // nil outside any project
	// Trees are where a stop is judged: the project first, then every other place in which
	// the session is known to have worked.
	Trees []Tree
	// Prompt names the last prompt that a person has written in the session; empty where that
	// is not known.
	Prompt string
	// Origin is the first session that this one goes on from, and Prompted whether a prompt
	// of it was seen.
	Origin   string
	Prompted bool
	// OnlyReads reports whether the agent has changed nothing since the last prompt at which the trees could be a
	// person's work: it has called no tool that could. Nil where that is not known.
	OnlyReads func() bool
	// The call's own record in the journal: whoever asks the daemon about it makes sure that
	// the daemon has read as far as that.
	ID       string
	Journal  *journal.Journal
	Received journal.Position // behind it; zero where it could not be written
	// Shortened is how long Claude Code waits for the hook where its settings say less than the
	// installed entry; zero where they do not.
	Shortened time.Duration
	// BlockedBefore means that the keeper that is asked has blocked this prompt
	// before.
	BlockedBefore bool
}

// IsMainStop reports whether the main agent is about to stop, in a client that no gauntlet started.
func (c *Call) IsMainStop() bool {
	return c.Event() == hook.Stop && c.Payload.Common().AgentID == "" && environ.Get(c.Env, claude.ActiveVariable) == ""
}

// Observes reports whether nothing of the call's project is blocked.
func (c *Call) Observes() bool {
	if c.Project == nil {
		return c.Global.Observes(nil)
	}
	return c.Global.Observes(c.Project.Config)
}

// Event is the event of the call.
func (c *Call) Event() hook.Event { return c.Payload.Event() }

// Project is the project that a call belongs to, with the configuration that is
// in force there.
type Project struct {
	Root      string
	Config    *config.Project
	Gates     *config.Gates  // nil on events that no gate looks at
	ConfigDir string         // what the configuration was read from: .gauntlet, or the approved copy of it
	Approval  string         // id of the approved configuration; empty without trust
	Edited    []string       // files of .gauntlet that are not as approved
	Absent    bool           // the branch does not have the configuration
	Content   *trust.Content // runs commands that see it as it was approved; nil without trust
}

// Tree is a working tree that a stop is judged in, as the session sees it.
type Tree struct {
	Project  *Project
	Baseline string       // the tree that the agent found; empty where it is not known
	Found    string       // what made it the baseline, in a word of event.Tree
	Red      bool         // a stop of this session was refused here, and none has passed since
	Since    change.Start // when the session began
}

// Keeper looks at calls. An implementation
//   - MUST return soon after ctx ends; what it started ends with it,
//   - MUST NOT write to standard output: the chain alone answers Claude Code,
//   - may panic: the chain takes that for "could not run".
type Keeper interface {
	// Name is one word for the journal and for messages.
	Name() string
	// MaxBlocks is how often it may block one prompt of one agent.
	MaxBlocks() int
	// Applies reports whether the call is any of its business. It is asked on
	// every call in a project, so it MUST be quick.
	Applies(call *Call) bool
	// Judge gives the verdict on a call that it applies to.
	Judge(ctx context.Context, call *Call) Verdict
}

// Witness is a keeper that follows sessions: it sees every call before any keeper
// is asked. It MUST be quick, and has no say.
type Witness interface {
	Witness(call *Call)
}

// Together makes one verdict of those on several trees. The worst gives its outcome, status
// and reason; what is told of each is told.
func Together(all []Verdict) (out Verdict) {
	var messages, summaries []string
	for i, v := range all {
		if i == 0 || v.severity() > out.severity() {
			out.Outcome, out.Status, out.Reason = v.Outcome, v.Status, v.Reason
		}
		out.Notify, out.NeedsPerson = out.Notify || v.Notify, out.NeedsPerson || v.NeedsPerson
		if v.Message != "" {
			messages = append(messages, v.Message)
		}
		if v.Summary != "" {
			summaries = append(summaries, v.Summary)
		}
	}
	out.Message, out.Summary = strings.Join(messages, "\n"), strings.Join(summaries, "; ")
	return out
}

// severity orders verdicts: one that blocks, one that a person has to decide about, a
// failure that was given up, one that could not be had, a pass.
func (v Verdict) severity() int {
	switch {
	case v.Blocks():
		return 4
	case v.NeedsPerson:
		return 3
	case v.Outcome == Failed:
		return 2
	case v.Outcome == CouldNotRun:
		return 1
	}
	return 0
}
