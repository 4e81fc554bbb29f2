// Package stop answers a hook call: it reads the payload, writes the journal, asks
// the keepers in their order and makes one answer of their verdicts. It owns what
// no keeper may own alone: the deadline, the count of blocks, and the answer when
// something breaks.
package stop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/gate/gauntlet"
	"github.com/stopgate/stopgate/internal/gate/keeper"
	"github.com/stopgate/stopgate/internal/gate/protect"
	"github.com/stopgate/stopgate/internal/harness/hook"
	"github.com/stopgate/stopgate/internal/record/event"
)

// Chain asks keepers, in order. The first block wins.
type Chain struct {
	Keepers []keeper.Keeper // those that apply
	Counter Counter
	Cap     int           // blocks of one turn that Claude Code honours; 0 means no limit
	Grace   time.Duration // how long a keeper may take to come back after its time is over
	Now     func() time.Time
	Log     func(format string, args ...any) // for what only a developer wants to know
}

// Judgement is what was made of a call.
type Judgement struct {
	Verdicts []keeper.Verdict
	Blocked  int // index of the verdict that blocks; -1 when the call may pass
}

// add adds a verdict, which decides if it blocks.
func (j *Judgement) add(v keeper.Verdict) {
	j.Verdicts = append(j.Verdicts, v)
	if v.Blocks() {
		j.Blocked = len(j.Verdicts) - 1
	}
}

// hold adds a verdict on what no keeper may look at, unless one blocks.
func (j *Judgement) hold(held *keeper.Verdict) {
	if held != nil && j.Blocked < 0 {
		j.add(*held)
	}
}

// sure reports whether the call may pass, and everything was checked.
func (j Judgement) sure() bool {
	return j.Blocked < 0 && !slices.ContainsFunc(j.Verdicts, func(v keeper.Verdict) bool { return v.Outcome == keeper.CouldNotRun })
}

// trees are those that keepers looked at.
func (j Judgement) trees() (all []event.Tree) {
	for _, v := range j.Verdicts {
		all = append(all, v.Trees...)
	}
	return all
}

// needsPerson reports whether nothing may go on by itself, although the call may pass.
func (j Judgement) needsPerson() bool {
	return slices.ContainsFunc(j.Verdicts, func(v keeper.Verdict) bool { return v.NeedsPerson && !v.Blocks() })
}

// Judge asks the keepers. It returns soon after ctx ends, whatever a keeper
// does.
func (c *Chain) Judge(ctx context.Context, call *keeper.Call) Judgement {
	j := Judgement{Blocked: -1}
	for i, k := range c.Keepers {
		verdict := c.ask(ctx, k, c.callFor(call, k))
		if call.Observes() && len(verdict.Trees) == 0 && !verdict.PerTree { // a verdict on trees may be about other projects
			verdict = verdict.Observed()
		}
		if verdict.Blocks() && !verdict.Uncounted {
			if why := c.refusal(call, k); why != "" {
				verdict = gaveUp(verdict, why)
			}
		}

		if j.add(verdict); j.Blocked >= 0 {
			return j
		}
		if rest := c.Keepers[i+1:]; ctx.Err() != nil && len(rest) > 0 {
			j.add(notAsked(ctx, call, rest))
			return j
		}
	}
	return j
}

// callFor is the call as one keeper sees it. Claude Code's flag is also set when
// another keeper blocked, and for reasons that are no block at all.
func (c *Chain) callFor(call *keeper.Call, k keeper.Keeper) *keeper.Call {
	if !stopHookActive(call.Payload) {
		return call
	}
	mine := *call
	blocks, err := c.Counter.Blocks(turnOf(call.Payload))
	if err != nil {
		c.Log("count blocks: %v", err)
	}
	mine.BlockedBefore = err != nil || blocks[k.Name()] > 0
	return &mine
}

// notAsked says which keepers the deadline left out: a call that they did not
// see was not checked.
func notAsked(ctx context.Context, call *keeper.Call, keepers []keeper.Keeper) keeper.Verdict {
	names := make([]string, len(keepers))
	for i, k := range keepers {
		names[i] = k.Name()
	}
	message := "the hook timed out; not checked by: " + strings.Join(names, ", ")
	return overrun(ctx, call, couldNotRun("chain", "", message), names...)
}

// ask has one keeper look, and notes how long that took.
func (c *Chain) ask(ctx context.Context, k keeper.Keeper, call *keeper.Call) keeper.Verdict {
	start := c.Now()
	verdict := overrun(ctx, call, c.await(ctx, k, call), k.Name())
	verdict.Keeper, verdict.Start, verdict.Duration = k.Name(), start, c.Now().Sub(start)
	return verdict
}

// await runs one keeper and turns a panic or an overrun into "could not run".
func (c *Chain) await(ctx context.Context, k keeper.Keeper, call *keeper.Call) keeper.Verdict {
	verdicts, name := make(chan keeper.Verdict, 1), k.Name()
	go func() {
		defer recovered(c.Log, "keeper "+name+" panicked", func(r any) {
			verdicts <- couldNotRun(name, "panic", fmt.Sprintf("%s: internal error: %v", name, r))
		})
		verdicts <- k.Judge(ctx, call)
	}()
	select {
	case v := <-verdicts:
		return v
	case <-ctx.Done():
	}
	late := time.NewTimer(c.Grace)
	defer late.Stop()
	select {
	case v := <-verdicts:
		return v
	case <-late.C:
		return keeper.Verdict{Outcome: keeper.CouldNotRun}
	}
}

// overrun names the reason why some keepers could not finish. A verdict that was
// ready stands. Gates that have less time than the hook was installed with are red:
// Claude Code's settings grant less, and an agent can write these.
func overrun(ctx context.Context, call *keeper.Call, v keeper.Verdict, keepers ...string) keeper.Verdict {
	if ctx.Err() == nil || v.Outcome != keeper.CouldNotRun {
		return v
	}
	if v.Message == "" {
		v.Message = "the hook timed out before it finished"
	}
	v.Status = "deadline"
	if ctx.Err() == context.Canceled {
		v.Status = "interrupted"
		return v
	}
	if call.Shortened > 0 && slices.Contains(keepers, gauntlet.Keeper{}.Name()) {
		v.Outcome, v.Summary = keeper.Failed, v.Message
		v.Reason = keeper.Words("the gates did not finish: %s. To fix that, %s.", v.Message, gauntlet.Limit{Shortened: call.Shortened}.Advice())
	}
	return v
}

// refusal is why a keeper may not block this turn once more; empty when it may.
// The block is counted before Claude Code hears of it.
func (c *Chain) refusal(call *keeper.Call, k keeper.Keeper) string {
	if !call.Event().Loops() {
		return ""
	}
	turn, active := turnOf(call.Payload), stopHookActive(call.Payload)
	// A client that sends no prompt_id shows a new prompt by the flag alone.
	fresh := turn.Prompt == "" && !active
	why, err := c.Counter.Claim(turn, fresh, k.Name(), c.Now(), func(blocks map[string]int) string {
		return c.exhausted(blocks, k)
	})
	if err != nil && active {
		// Without a count the flag alone can end a loop: it is false only on
		// the first stop of a prompt.
		c.Log("count a block: %v", err)
		return "because blocks cannot be counted: " + err.Error()
	}
	return why
}

// exhausted is why the blocks so far leave no room for another. A block for a protected file
// uses up none of the others' room: an agent could buy its way past a red gate with it.
func (c *Chain) exhausted(blocks map[string]int, k keeper.Keeper) string {
	total := 0
	for name, n := range blocks {
		if name != protect.Name {
			total += n
		}
	}
	switch n := blocks[k.Name()]; {
	case n >= k.MaxBlocks():
		return fmt.Sprintf("after %d blocks of this prompt", n)
	case c.Cap > 0 && total >= c.Cap:
		return fmt.Sprintf("after %d blocks of this prompt, the most that Claude Code allows", total)
	}
	return ""
}

func turnOf(payload hook.Payload) Turn {
	base := payload.Common()
	return Turn{Session: base.SessionID, Prompt: base.PromptID, Subagent: base.AgentID}
}

func stopHookActive(payload hook.Payload) bool {
	switch p := payload.(type) {
	case *hook.StopPayload:
		return p.StopHookActive
	case *hook.SubagentStopPayload:
		return p.StopHookActive
	}
	return false
}

func couldNotRun(who, status, message string) keeper.Verdict {
	return keeper.Verdict{Keeper: who, Outcome: keeper.CouldNotRun, Status: status, Message: message}
}

// gaveUp lets a failed call pass and says so.
func gaveUp(v keeper.Verdict, why string) keeper.Verdict {
	return keeper.Verdict{
		Keeper:      v.Keeper,
		Duration:    v.Duration,
		Cost:        v.Cost,
		Outcome:     keeper.Failed,
		Status:      "gave_up",
		Notify:      true,
		NeedsPerson: v.NeedsPerson,
		Trees:       v.Trees,
		Message:     fmt.Sprintf("gave up %s; stop allowed although this is not fixed: %s", why, v.Summary),
	}
}
